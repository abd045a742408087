package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// status returns a line of /proc/PID/status, or "" if the process does not exist.
func status(pid int, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// lives reports whether a process exists and is not a zombie: the process that adopts
// orphans may be slow to reap them.
func lives(pid int) bool {
	state := status(pid, "State")
	return state != "" && state[0] != 'Z'
}

func TestDescendantsInSessionsOfTheirOwn(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	const wait = ` until [ -s left ]; do sleep 0.01; done`
	for name, script := range map[string]string{
		"orphan":            `setsid sh -c 'echo $$ >left; sleep 60; sleep 60' &` + wait,
		"deaf orphan":       `setsid sh -c 'trap "" TERM; echo $$ >left; sleep 60; sleep 60' &` + wait,
		"orphan's child":    `setsid sh -c 'env -i PATH="$PATH" setsid sh -c "echo \$\$ >left; sleep 60; sleep 60"; sleep 60' &` + wait,
		"without the mark":  `env -i PATH="$PATH" sh -c 'echo $$ >left; sleep 60; sleep 60' &` + wait,
		"deaf while we run": `env -i PATH="$PATH" setsid sh -c 'trap "" TERM; echo $$ >left; while :; do sleep 1; done' &` + wait + `; sleep 60`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			spec := s.spec(script)
			spec.Timeout = startTime
			s.run(spec)
			s.wantGone("left")
		})
	}
}

// TestDescendantsInGroupsOfTheirOwn runs a shell with job control, which gives each job
// its own group in the same session.
func TestDescendantsInGroupsOfTheirOwn(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed, and other shells have no job control without a terminal")
	}
	s := newScene(t)
	spec := s.spec(`set -m; env -i PATH="$PATH" sh -c 'echo $$ >left; sleep 60; sleep 60' & until [ -s left ]; do sleep 0.01; done`)
	spec.Argv[0] = "bash"
	s.run(spec)
	s.wantGone("left")
}

// TestOtherChildrenAreLeftAlone tests that children of other parts of the program are
// left alone, even in another session.
func TestOtherChildrenAreLeftAlone(t *testing.T) {
	for name, attr := range map[string]*syscall.SysProcAttr{"same session": nil, "own session": {Setsid: true}} {
		t.Run(name, func(t *testing.T) {
			other := exec.Command("sleep", "60")
			other.SysProcAttr = attr
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			s := newScene(t)
			s.run(s.spec("sleep 60 & true"))
			if !lives(other.Process.Pid) {
				t.Error("it was ended")
			}
			if err := other.Process.Kill(); err != nil {
				t.Error(err)
			}
			if err := other.Wait(); err == nil || other.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

func TestNoZombie(t *testing.T) {
	s := newScene(t)
	s.run(s.spec("sleep 60 & exit 1"))
	spec := s.spec("sleep 60 & wait")
	spec.Timeout = 50 * time.Millisecond
	s.run(spec)
	if found := zombies(t); len(found) > 0 {
		t.Errorf("zombies are left: %q", found)
	}
}

// TestMarksAddUp tests that a child that uses this package for its children keeps the
// outer mark.
func TestMarksAddUp(t *testing.T) {
	s := newScene(t)
	spec := s.spec("env")
	spec.Env = []string{"PATH=" + os.Getenv("PATH"), "SWITCHYARD_CHILD_OUTER=1"}
	s.run(spec)
	if got := strings.Count(s.text(), "SWITCHYARD_CHILD_"); got != 2 {
		t.Errorf("%d marks, want 2:\n%s", got, s.text())
	}
	if len(spec.Env) != 2 {
		t.Errorf("the caller's environment changed: %q", spec.Env)
	}
}

func TestOurOwnDeath(t *testing.T) {
	s := newScene(t)
	var complaint bytes.Buffer
	us := exec.Command(os.Args[0])
	us.Env = append(os.Environ(), dyingVar+"="+s.dir, scriptVar+"=echo $$ >root; exec sleep 60")
	us.Stderr = &complaint
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	pid := s.pid("root")
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := us.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("%v: %s", err, complaint.String())
	}
	for {
		if !lives(pid) { // It came to us, and no Supervisor handles it.
			if err := wait(pid); err != nil {
				t.Error(err)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
