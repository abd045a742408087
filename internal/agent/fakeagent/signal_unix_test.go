//go:build unix

package fakeagent_test

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// begin starts a call and returns once the call has written the file "ready".
func begin(t *testing.T, s runner, out *strings.Builder) *exec.Cmd {
	t.Helper()
	cmd := s.command(t)
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return exists(s.path("ready")) })
	return cmd
}

func await(t *testing.T, so func() bool) {
	t.Helper()
	for !so() {
		time.Sleep(5 * time.Millisecond)
	}
}

// ready marks that all previous steps are done.
var ready = fakeagent.Step{Write: &fakeagent.File{Path: "ready"}}

func TestSoftSignal(t *testing.T) {
	for term, want := range map[string]struct {
		status string
		said   bool
	}{"": {"signal: terminated", false}, "exit": {"", false}, "result": {"", true}, "ignore": {"exit status 5", false}} {
		scenario := fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, ready, fakeagent.Step{Await: &fakeagent.Await{File: "go"}}, fakeagent.Step{Exit: new(5)})
		scenario.Term = term
		s := newStage(t, scenario)
		var out strings.Builder
		cmd := begin(t, s, &out)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if term == "ignore" {
			await(t, func() bool { return len(fakeagent.Calls(t, s.script)[0].Signals) == 1 })
			touch(t, s.path("go"))
		}
		err := cmd.Wait()
		if status := text(err); status != want.status || strings.Contains(out.String(), `"task_id":"T-1"`) != want.said {
			t.Errorf("%q: %s, %q", term, status, out.String())
		}
	}
}

func TestDiesOfASignal(t *testing.T) {
	for _, name := range []string{"KILL", "TERM", "SEGV", "ABRT"} {
		s := newStage(t, fakeagent.Plays(fakeagent.Step{Kill: name}))
		err := s.command(t).Run()
		if !strings.HasPrefix(text(err), "signal: ") && !strings.Contains(text(err), "exit status 2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLeavesChildren(t *testing.T) {
	for name, child := range map[string]fakeagent.Child{
		"plain": {}, "session": {Session: true}, "orphan": {Orphan: true, Session: true, Clear: true}, "stubborn": {Stubborn: true, Clear: true},
	} {
		s := newStage(t, fakeagent.Plays(fakeagent.Step{Child: &child}))
		if _, stderr, code := s.call(t); code != 0 {
			t.Fatalf("%s: %s", name, stderr)
		}
		calls := fakeagent.Calls(t, s.script)
		if len(calls) != 1 || len(calls[0].Children) != 1 {
			t.Fatalf("%s: calls %+v", name, calls)
		}
		pid := calls[0].Children[0]
		t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
		if sid, err := unix.Getsid(pid); err != nil || (sid == pid) != child.Session {
			t.Errorf("%s: session %d of %d, %v", name, sid, pid, err)
		}
		if child.Stubborn {
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChildHoldsOutput checks that a child that holds the pipe keeps its reader waiting.
func TestChildHoldsOutput(t *testing.T) {
	s := newStage(t, fakeagent.Plays(fakeagent.Step{Child: &fakeagent.Child{Hold: true}}))
	cmd := s.command(t)
	cmd.Stdout = new(strings.Builder)
	cmd.WaitDelay = 100 * time.Millisecond
	err := cmd.Run()
	syscall.Kill(fakeagent.Calls(t, s.script)[0].Children[0], syscall.SIGKILL)
	if !errors.Is(err, exec.ErrWaitDelay) {
		t.Errorf("got %v", err)
	}
}
