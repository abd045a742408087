package supervise_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// astray returns a script that leaves an unrelated orphan: in its own session, without
// a parent and without the mark. It writes its number into a file and then runs then.
func astray(t testing.TB, file, then string) string {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	return `(env -i PATH="$PATH" setsid sh -c 'echo $$ >` + file + `; ` + then + `' &) ; until [ -s ` + file + ` ]; do sleep 0.01; done; `
}

const deaf = `trap "" TERM; while :; do sleep 0.1; done`

// wantReaped fails if a process that wrote its number into a file still exists, even as
// a zombie.
func (s scene) wantReaped(file string) {
	s.Helper()
	s.wantGone(file)
	if pid := s.pid(file); status(pid, "State") != "" {
		s.Errorf("process %d of %s is left: %s", pid, file, status(pid, "State"))
	}
}

// zombies returns our children that have ended and were not reaped.
func zombies(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	var found []string
	for _, path := range paths {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(path), "%d", &pid); err != nil {
			t.Fatal(err)
		}
		if status(pid, "PPid") == fmt.Sprint(os.Getpid()) && strings.HasPrefix(status(pid, "State"), "Z") {
			found = append(found, fmt.Sprint(pid, " ", comm(pid)))
		}
	}
	return found
}

func TestOrphanThatNothingTies(t *testing.T) {
	for name, c := range map[string]struct {
		then, last string
		end        supervise.End
	}{
		"after a success":    {"sleep 60; sleep 60", "exit 0", supervise.Exited},
		"deaf":               {deaf, "exit 0", supervise.Exited},
		"after a time-out":   {"sleep 60; sleep 60", "sleep 60", supervise.TimedOut},
		"holds the output":   {"exec sleep 60", "exit 0", supervise.Exited},
		"has another orphan": {`(env -i PATH="$PATH" setsid sh -c "echo \$\$ >second; sleep 60; sleep 60" &); sleep 60; sleep 60`, "until [ -s second ]; do sleep 0.01; done", supervise.Exited},
		"is already dead":    {"exit 0", "exit 0", supervise.Exited},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			spec := s.spec(astray(t, "left", c.then) + c.last)
			if c.end == supervise.TimedOut {
				spec.Timeout = startTime
			}
			if r := s.run(spec); r.End != c.end {
				t.Errorf("got %+v", r)
			}
			s.wantReaped("left")
			if strings.Contains(c.then, "second") {
				s.wantReaped("second")
			}
			if found := zombies(t); len(found) > 0 {
				t.Errorf("zombies are left: %q", found)
			}
		})
	}
}

// TestOrphanThatChangesItsNumber tests an orphan that keeps forking, so that its number
// changes between scans.
func TestOrphanThatChangesItsNumber(t *testing.T) {
	s := newScene(t)
	s.file("hop", `echo >>hops; (env -i PATH="$PATH" setsid sh ./hop &)`)
	hops := func() int64 {
		info, err := os.Stat(filepath.Join(s.dir, "hops"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	s.run(s.spec(astray(t, "left", ". ./hop") + `until [ "$(wc -c <hops)" -ge 10 ]; do sleep 0.01; done`))
	before := hops()
	time.Sleep(2 * tick)
	if after := hops(); after != before {
		t.Errorf("it goes on: %d times, then %d", before, after)
	}
	if found := zombies(t); len(found) > 0 {
		t.Errorf("zombies are left: %q", found)
	}
}

// TestDeadOrphansAreReapedMeanwhile tests that orphans are reaped while their child
// runs: an unlimited number would use up all process numbers.
func TestDeadOrphansAreReapedMeanwhile(t *testing.T) {
	s := newScene(t)
	spec := s.spec(astray(t, "left", "exit 0") + "until [ -e go ]; do sleep 0.01; done")
	spec.Watch = func() supervise.End {
		if _, err := os.Stat(filepath.Join(s.dir, "left")); err == nil && status(s.pid("left"), "State") == "" {
			_ = os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600)
		}
		return ""
	}
	if r := s.run(spec); r.End != supervise.Exited {
		t.Errorf("nobody reaped it: %+v", r)
	}
}

// meanwhile runs a spec and returns a function that waits for its end.
func (s scene) meanwhile(spec supervise.Spec) func() supervise.Result {
	type outcome struct {
		supervise.Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := s.keeper.Run(s.Context(), spec)
		done <- outcome{r, err}
	}()
	return func() supervise.Result {
		s.Helper()
		o := <-done
		if o.err != nil {
			s.Fatal(o.err)
		}
		return o.Result
	}
}

const untilGo = "until [ -e go ]; do sleep 0.01; done"

// letEnd lets a child that runs untilGo end, and fails unless it ends successfully.
func (s scene) letEnd(ends func() supervise.Result) {
	s.Helper()
	s.file("go", "")
	if r := ends(); r.End != supervise.Exited || r.ExitCode != 0 {
		s.Errorf("it was touched: %+v", r)
	}
}

// tick is longer than the resolution of the kernel's start times.
const tick = 50 * time.Millisecond

func TestOrphansOfTwoChildren(t *testing.T) {
	older, younger := newScene(t), newScene(t)
	olderEnds := older.meanwhile(older.spec(astray(t, "early", deaf) + "sleep 0.2; " + astray(t, "late", deaf) + untilGo))
	older.pid("early")
	time.Sleep(tick)
	youngerEnds := younger.meanwhile(younger.spec(astray(t, "left", deaf) + untilGo))
	younger.pid("left")
	older.pid("late")

	older.letEnd(olderEnds)
	older.wantReaped("early") // It started before the other child.
	if !lives(younger.pid("left")) {
		t.Error("the orphan of the child that runs was ended")
	}
	younger.letEnd(youngerEnds)
	younger.wantReaped("left")
	older.wantReaped("late") // It could have been either child's until the other one had ended.
}

// TestMarkedOrphanWithAnother tests that an orphan with its mark is ended with its own
// child, whichever others run.
func TestMarkedOrphanWithAnother(t *testing.T) {
	other, s := newScene(t), newScene(t)
	ends := other.meanwhile(other.spec(strings.Replace(astray(t, "left", deaf), "env -i", "env", 1) + untilGo))
	other.pid("left")
	for range 3 {
		s.run(s.spec(strings.Replace(astray(t, "left", deaf), "env -i", "env", 1)))
		s.wantReaped("left")
		if err := os.Remove(filepath.Join(s.dir, "left")); err != nil {
			t.Fatal(err)
		}
	}
	if pid := other.pid("left"); !lives(pid) {
		t.Error("the orphan of the other child was ended")
	}
	other.letEnd(ends)
	other.wantReaped("left")
}

// TestOtherChildrenMeanwhile tests that a child of os/exec, and an orphan that comes to
// us from it, which are in our session, may start, run and end while a child is
// supervised, and that its exit status is not lost.
func TestOtherChildrenMeanwhile(t *testing.T) {
	s := newScene(t)
	ends := s.meanwhile(s.spec(astray(t, "left", deaf) + untilGo))
	s.pid("left")
	other := exec.Command("sh", "-c", "(sleep 60 & echo $! >orphan); exit 3")
	other.Dir = s.dir
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := s.pid("orphan")
	second := newScene(t)
	second.run(second.spec("sleep 60 & true"))
	s.letEnd(ends)
	s.wantReaped("left")
	if !lives(orphan) {
		t.Error("the orphan of another part of the program was ended")
	}
	exit, failed := errors.AsType[*exec.ExitError](other.Wait())
	if !failed || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", exit)
	}
	if err := errors.Join(syscall.Kill(orphan, syscall.SIGKILL), wait(orphan)); err != nil {
		t.Error(err)
	}
}

// wait reaps an orphan that came to us.
func wait(pid int) error {
	_, err := syscall.Wait4(pid, nil, 0, nil)
	return err
}

// comm returns the name of a process.
func comm(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
