//go:build unix

package supervise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dyingVar); dir != "" {
		die(dir)
	}
	if file := os.Getenv(sweepingVar); file != "" {
		sweep(file)
	}
	goleak.VerifyTestMain(m)
}

// dyingVar makes a copy of this program run a child in the directory that it names, and
// scriptVar is the child's script.
const dyingVar, scriptVar = "PROCESS_TEST_DYING", "PROCESS_TEST_SCRIPT"

// sweepingVar makes a copy of this program sweep the Identity in the file that it
// names.
const sweepingVar = "PROCESS_TEST_SWEEPING"

// sweep prints the result of a sweep: the code of its error, if it has one.
func sweep(file string) {
	var id supervise.Identity
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	k, unfit := supervise.New()
	if err = errors.Join(err, unfit); err == nil {
		_, err = k.Sweep(context.Background(), id, 0)
	}
	fmt.Println(errs.CodeOf(err))
	os.Exit(0)
}

func die(dir string) {
	fmt.Fprintln(os.Stderr, "the child ended first:", runToTheEnd(dir))
	os.Exit(1)
}

// runToTheEnd records the reserved Identity before it starts the child, and the child's
// Identity before it waits for it.
func runToTheEnd(dir string) error {
	k, err := supervise.New()
	if err != nil {
		return err
	}
	private := filepath.Join(dir, "private")
	announced := k.Reserve(private)
	if err := errors.Join(keep(dir, "announced", announced), os.Mkdir(private, 0o700)); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(private, "output"))
	if err != nil {
		return err
	}
	_, err = k.Run(context.Background(), supervise.Spec{
		Argv: []string{"sh", "-c", os.Getenv(scriptVar)}, Dir: dir, Output: f,
		OutputLimit: 1 << 20, Timeout: time.Minute, Grace: time.Second, Reserved: announced,
		Started: func(id supervise.Identity) error { return keep(dir, "identity", id) },
	})
	return err
}

// keep writes an Identity into a file.
func keep(dir, name string, id supervise.Identity) error {
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), text, 0o600)
}

// scene is a directory for a child, and a file for its output.
type scene struct {
	testing.TB
	keeper *supervise.Supervisor
	dir    string
	output *os.File
}

// startTime is a time limit within which the processes of a script have started, also on a
// busy machine.
const startTime = 3 * time.Second

func newScene(t testing.TB) scene {
	t.Helper()
	dir := t.TempDir()
	f, err := os.OpenFile(filepath.Join(dir, "output"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	k, err := supervise.New()
	if err != nil {
		t.Fatal(err)
	}
	return scene{t, k, dir, f}
}

// spec returns the spec of a shell script, with limits that it should not reach.
func (s scene) spec(script string) supervise.Spec {
	return supervise.Spec{
		Argv: []string{"sh", "-c", script}, Dir: s.dir, Output: s.output,
		OutputLimit: 1 << 20, Timeout: time.Hour, Grace: 100 * time.Millisecond,
	}
}

func (s scene) run(spec supervise.Spec) supervise.Result {
	s.Helper()
	r, err := s.keeper.Run(s.Context(), spec)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func (s scene) text() string {
	s.Helper()
	text, err := os.ReadFile(s.output.Name())
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// pid waits without a limit for a script to write a process number into a file, and
// returns it.
func (s scene) pid(file string) int {
	s.Helper()
	for {
		text, err := os.ReadFile(filepath.Join(s.dir, file))
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// wantGone fails if a process that wrote its number into a file is still alive.
func (s scene) wantGone(file string) {
	s.Helper()
	if pid := s.pid(file); lives(pid) {
		s.Errorf("process %d of %s is left", pid, file)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   supervise.Result
	}{
		"success":         {"true", supervise.Result{End: supervise.Exited}},
		"failure":         {"exit 3", supervise.Result{ExitCode: 3, End: supervise.Exited}},
		"greatest code":   {"exit 255", supervise.Result{ExitCode: 255, End: supervise.Exited}},
		"no such command": {"exec 2>&-; no-such-command-anywhere", supervise.Result{ExitCode: 127, End: supervise.Exited}},
		"killed":          {"kill -KILL $$", supervise.Result{ExitCode: -1, Signal: "SIGKILL", End: supervise.Exited}},
		"terminated":      {"kill -TERM $$", supervise.Result{ExitCode: -1, Signal: "SIGTERM", End: supervise.Exited}},
		"output":          {"echo four; echo five >&2", supervise.Result{End: supervise.Exited, OutputBytes: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			got := s.run(s.spec(c.script))
			if got.Duration <= 0 {
				t.Errorf("it lasted %v", got.Duration)
			}
			if got.PID <= 1 {
				t.Errorf("its number is %d", got.PID)
			}
			if got.PID, got.Duration = 0, 0; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestBothStreamsGoToTheEndOfTheFile(t *testing.T) {
	s := newScene(t)
	if _, err := s.output.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	r := s.run(s.spec("echo one; echo two >&2; cat; echo three"))
	if got, want := s.text(), "before\none\ntwo\nthree\n"; got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	if r.OutputBytes != 14 {
		t.Errorf("%d bytes were counted, want 14", r.OutputBytes)
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("PROCESS_TEST", "ours")
	s := newScene(t)
	s.run(s.spec(`echo "$PROCESS_TEST"; pwd -P`))
	spec := s.spec(`echo "${PROCESS_TEST-none}"`)
	spec.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.run(spec)
	dir, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.text(), "ours\n"+dir+"\nnone\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoTerminal(t *testing.T) {
	s := newScene(t)
	if r := s.run(s.spec("exec 2>&-; : </dev/tty")); r.ExitCode == 0 {
		t.Error("the child could open a terminal")
	}
}

func TestTimeout(t *testing.T) {
	s := newScene(t)
	spec := s.spec("echo $$ >root; sleep 60 & echo $! >grandchild; wait")
	spec.Timeout = startTime
	r := s.run(spec)
	if r.End != supervise.TimedOut || r.Signal != "SIGTERM" || r.ExitCode != -1 || r.Duration < spec.Timeout {
		t.Errorf("got %+v", r)
	}
	s.wantGone("root")
	s.wantGone("grandchild")
}

func TestTimeoutLeavesTheExitCodeToTheChild(t *testing.T) {
	s := newScene(t)
	spec := s.spec("trap 'echo bye; exit 0' TERM; sleep 60 & wait")
	spec.Timeout, spec.Grace = startTime, time.Minute // The child ends long before, but for a busy machine.
	if r := s.run(spec); r.End != supervise.TimedOut || r.ExitCode != 0 || r.Signal != "" {
		t.Errorf("got %+v", r)
	}
	if got := s.text(); got != "bye\n" {
		t.Errorf("the child could not say goodbye: %q", got)
	}
}

func TestSoftSignalIsIgnored(t *testing.T) {
	s := newScene(t)
	spec := s.spec(`trap '' TERM; echo $$ >root; sh -c 'echo $$ >grandchild; sleep 60; sleep 60'`)
	spec.Timeout = startTime
	r := s.run(spec)
	if r.End != supervise.TimedOut || r.Signal != "SIGKILL" || r.Duration < spec.Timeout+spec.Grace {
		t.Errorf("got %+v", r)
	}
	s.wantGone("root")
	s.wantGone("grandchild")
}

func TestStoppedChild(t *testing.T) {
	s := newScene(t)
	spec := s.spec("echo $$ >root; kill -STOP $$")
	spec.Timeout = startTime
	if r := s.run(spec); r.End != supervise.TimedOut || r.Signal != "SIGKILL" {
		t.Errorf("got %+v", r)
	}
	s.wantGone("root")
}

func TestLeftoversOfASuccess(t *testing.T) {
	for name, script := range map[string]string{
		"holds the output":   "sleep 60 & echo $! >left",
		"ignores the signal": `sh -c 'trap "" TERM; echo $$ >left; sleep 60; sleep 60' & until [ -s left ]; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			if r := s.run(s.spec(script)); r.End != supervise.Exited || r.ExitCode != 0 {
				t.Errorf("got %+v", r)
			}
			s.wantGone("left")
		})
	}
}

func TestEndlessOutput(t *testing.T) {
	s := newScene(t)
	spec := s.spec("echo $$ >root; exec yes")
	spec.OutputLimit = 64 << 10
	if r := s.run(spec); r.End != supervise.OutputLimit || r.Signal != "SIGTERM" || r.OutputBytes <= spec.OutputLimit {
		t.Errorf("got %+v", r)
	}
	s.wantGone("root")
}

// TestOutputLimitIsExact tests that a child that ends before the first check is judged
// like one that continues.
func TestOutputLimitIsExact(t *testing.T) {
	for limit, want := range map[int64]supervise.End{999: supervise.OutputLimit, 1000: supervise.Exited} {
		s := newScene(t)
		if _, err := s.output.WriteString("what was there does not count"); err != nil {
			t.Fatal(err)
		}
		spec := s.spec("printf %01000d 7")
		spec.OutputLimit = limit
		if r := s.run(spec); r.End != want || r.OutputBytes != 1000 || r.ExitCode != 0 {
			t.Errorf("under a limit of %d: %+v", limit, r)
		}
	}
}

func TestCancel(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user had enough")
	go func() {
		s.pid("grandchild")
		cancel(why)
	}()
	r, err := s.keeper.Run(ctx, s.spec("echo $$ >root; sleep 60 & echo $! >grandchild; wait"))
	if !errors.Is(err, why) || r != (supervise.Result{}) {
		t.Errorf("got %+v, %v", r, err)
	}
	s.wantGone("root")
	s.wantGone("grandchild")
	if _, err := s.keeper.Run(ctx, s.spec("echo >ran")); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		t.Error("a child was started after the context was done")
	}
}

func TestStartErrors(t *testing.T) {
	s := newScene(t)
	closed := newScene(t).output
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*supervise.Spec){
		"no program":        func(s *supervise.Spec) { s.Argv = nil },
		"empty program":     func(s *supervise.Spec) { s.Argv = []string{""} },
		"unknown program":   func(s *supervise.Spec) { s.Argv = []string{"no-such-program-anywhere"} },
		"a directory":       func(s *supervise.Spec) { s.Argv = []string{"/"} },
		"NUL":               func(s *supervise.Spec) { s.Argv = []string{"sh", "a\x00b"} },
		"no such directory": func(s *supervise.Spec) { s.Dir = filepath.Join(s.Dir, "none") },
		"no output":         func(s *supervise.Spec) { s.Output = nil },
		"closed output":     func(s *supervise.Spec) { s.Output = closed },
		"no output limit":   func(s *supervise.Spec) { s.OutputLimit = 0 },
		"no time limit":     func(s *supervise.Spec) { s.Timeout = 0 },
		"unsure directory":  func(s *supervise.Spec) { s.Reserved.Folder = "here" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := s.spec("echo it ran")
			change(&spec)
			r, err := s.keeper.Run(t.Context(), spec)
			if errs.CodeOf(err) != errs.ProcessStart || r != (supervise.Result{}) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	if got := s.text(); got != "" {
		t.Errorf("something ran: %q", got)
	}
}

func TestLostChild(t *testing.T) {
	s := newScene(t)
	spec := s.spec("trap '' TERM; echo $$ >root; while :; do sleep 0.05; done")
	spec.Grace = 0
	spec.Watch = func() supervise.End {
		s.pid("root")
		return supervise.TimedOut
	}
	r, err := supervise.Impatient().Run(t.Context(), spec)
	if errs.CodeOf(err) != errs.ProcessLost || r != (supervise.Result{}) {
		t.Errorf("got %+v, %v", r, err)
	}
	// It was killed nevertheless, but Run did not wait for that.
	for lives(s.pid("root")) { // or the test hangs
		time.Sleep(10 * time.Millisecond)
	}
}

func TestConcurrentChildrenAreIndependent(t *testing.T) {
	long, short := newScene(t), newScene(t)
	done := make(chan error, 1)
	go func() {
		r, err := long.keeper.Run(t.Context(), long.spec("echo $$ >root; until [ -e go ]; do sleep 0.01; done; exit 5"))
		if err == nil && r.ExitCode != 5 {
			err = errors.New("the other child was disturbed")
		}
		done <- err
	}()
	long.pid("root")
	for range 5 {
		short.run(short.spec("sleep 60 & true"))
	}
	if err := os.WriteFile(filepath.Join(long.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
