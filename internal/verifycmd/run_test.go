//go:build unix

package verifycmd_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/verifycmd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plan returns a plan with one run of a command in a new project.
func plan(t testing.TB, command string) verifycmd.Plan {
	t.Helper()
	k, err := supervise.New()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	return verifycmd.Plan{Command: verifycmd.Command{Keeper: k, Line: command, Dir: root, Env: os.Environ()}, Runs: 1, Root: root, Task: "T1", Round: 2}
}

func run(t testing.TB, p verifycmd.Plan) verifycmd.Outcome {
	t.Helper()
	o, err := verifycmd.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// log returns the output file's content.
func log(t testing.TB, p verifycmd.Plan) string {
	t.Helper()
	text, err := os.ReadFile(logPath(p))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func logPath(p verifycmd.Plan) string {
	return filepath.Join(p.Root, ".switchyard", "verify", "T1-r2.log")
}

// settle removes from an outcome's runs what differs each time.
func settle(o *verifycmd.Outcome) {
	for i, r := range o.Runs {
		o.Runs[i] = supervise.Result{ExitCode: r.ExitCode, Signal: r.Signal, End: r.End}
	}
}

func digest(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

func TestOutcome(t *testing.T) {
	const notFound = 127
	for name, c := range map[string]struct {
		command string
		output  string
		green   bool
		run     supervise.Result
	}{
		"green":           {"echo ok", "ok\n", true, supervise.Result{End: supervise.Exited}},
		"red":             {"echo bad >&2; exit 1", "bad\n", false, supervise.Result{ExitCode: 1, End: supervise.Exited}},
		"last one counts": {"false; true", "", true, supervise.Result{End: supervise.Exited}},
		"unknown command": {"exec 2>&-; no-such-command-anywhere", "", false, supervise.Result{ExitCode: notFound, End: supervise.Exited}},
		"killed":          {"kill -KILL $$", "", false, supervise.Result{ExitCode: -1, Signal: "SIGKILL", End: supervise.Exited}},
		"leaves a child":  {"sleep 60 & echo ok", "ok\n", true, supervise.Result{End: supervise.Exited}},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, c.command)
			got := run(t, p)
			settle(&got)
			want := verifycmd.Outcome{
				Green: c.green, Runs: []supervise.Result{c.run}, Excerpt: c.output,
				OutputBytes: int64(len(c.output)), OutputDigest: digest(c.output), Output: ".switchyard/verify/T1-r2.log",
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if text := log(t, p); text != c.output {
				t.Errorf("the file holds %q", text)
			}
		})
	}
}

// count returns a command that fails only in its nth run.
func count(n int) string {
	return fmt.Sprintf(`echo x >>count; n=$(wc -l <count); printf "run of %%s" $n; [ $n -ne %d ]`, n)
}

func TestEveryRunHasToBeGreen(t *testing.T) {
	ok, bad := supervise.Result{End: supervise.Exited}, supervise.Result{ExitCode: 1, End: supervise.Exited}
	const first, second, third = "== run 1 of 3 ==\nrun of 1", "\n== run 2 of 3 ==\nrun of 2", "\n== run 3 of 3 ==\nrun of 3"
	for name, c := range map[string]struct {
		red    int
		want   []supervise.Result
		output string
	}{
		"all green":  {0, []supervise.Result{ok, ok, ok}, first + second + third},
		"first red":  {1, []supervise.Result{bad}, first},
		"second red": {2, []supervise.Result{ok, bad}, first + second},
		"last red":   {3, []supervise.Result{ok, ok, bad}, first + second + third},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, count(c.red))
			p.Runs = 3
			got := run(t, p)
			settle(&got)
			if got.Green != (c.red == 0) || !reflect.DeepEqual(got.Runs, c.want) {
				t.Errorf("got %+v", got)
			}
			if text := log(t, p); text != c.output || got.Excerpt != c.output || got.OutputDigest != digest(c.output) {
				t.Errorf("the file holds %q, the excerpt %q", text, got.Excerpt)
			}
		})
	}
}

func TestTimeoutIsRed(t *testing.T) {
	p := plan(t, "trap 'exit 0' TERM; echo begun; sleep 60 & wait")
	p.Timeout, p.Runs = 2*time.Second, 2
	got := run(t, p)
	if got.Green || len(got.Runs) != 1 || got.Runs[0].End != supervise.TimedOut || got.Runs[0].ExitCode != 0 {
		t.Errorf("got %+v", got)
	}
	if want := "== run 1 of 2 ==\nbegun\n"; got.Excerpt != want {
		t.Errorf("got %q, want %q", got.Excerpt, want)
	}
}

func TestOutputIsCutAtItsLimit(t *testing.T) {
	for name, command := range map[string]string{"endless": "exec yes", "ended before we looked": "yes | head -c 100000"} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, command)
			p.OutputLimit = 50000
			got := run(t, p)
			text := strings.Repeat("y\n", 25000)
			if got.Green || got.Runs[0].End != supervise.OutputLimit || got.OutputBytes != 50000 || got.OutputDigest != digest(text) || log(t, p) != text {
				t.Errorf("got %+v", got)
			}
			if want := "[truncated: 48000 of 50000 bytes are left out here]"; !strings.Contains(got.Excerpt, want) {
				t.Errorf("the excerpt lacks %q: %q", want, got.Excerpt)
			}
		})
	}
}

func TestOutputLimitIsForEachRun(t *testing.T) {
	p := plan(t, "printf %0100d 1")
	p.Runs, p.OutputLimit = 3, 100
	if got := run(t, p); !got.Green || len(got.Runs) != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestOutputCanBeFollowed(t *testing.T) {
	p := plan(t, "echo begun; until [ -e seen ]; do sleep 0.01; done")
	go func() {
		for {
			if text, err := os.ReadFile(logPath(p)); err == nil && string(text) == "begun\n" {
				_ = os.WriteFile(filepath.Join(p.Root, "seen"), nil, 0o600)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if got := run(t, p); !got.Green {
		t.Errorf("nobody could read what was written: %+v", got)
	}
}

func TestEnvironmentAndFolder(t *testing.T) {
	t.Setenv("VERIFY_OURS", "ours")
	t.Setenv("VERIFY_BOTH", "ours")
	p := plan(t, `echo "$VERIFY_OURS $VERIFY_BOTH"; pwd -P`)
	p.Env = append(os.Environ(), "VERIFY_BOTH=the plan's")
	dir, err := filepath.EvalSymlinks(p.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, p).Excerpt, "ours the plan's\n"+dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// wantError fails the test unless the plan ends in an error and its outcome is not green.
func wantError(t *testing.T, ctx context.Context, p verifycmd.Plan) error {
	t.Helper()
	o, err := verifycmd.Run(ctx, p)
	if err == nil || !reflect.DeepEqual(o, verifycmd.Outcome{}) {
		t.Fatalf("got %+v, %v", o, err)
	}
	return err
}

func TestBlankCommandVerifiesNothing(t *testing.T) {
	for _, command := range []string{"", " \t\n"} {
		p := plan(t, command)
		if err := wantError(t, t.Context(), p); errs.CodeOf(err) != errs.VerifyPlanInvalid {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(filepath.Join(p.Root, ".switchyard")); err == nil {
			t.Error("the state directory was created")
		}
	}
}

func TestNoShellIsAnError(t *testing.T) {
	p := plan(t, "true")
	t.Setenv("PATH", t.TempDir())
	if err := wantError(t, t.Context(), p); errs.CodeOf(err) != errs.ProcessStart {
		t.Errorf("got %v", err)
	}
}

func TestNoFolderIsAnError(t *testing.T) {
	p := plan(t, "true")
	p.Root = filepath.Join(p.Root, "none")
	if err := wantError(t, t.Context(), p); errs.CodeOf(err) != errs.VerifyOutputFailed {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	p := plan(t, "echo begun; sleep 60")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user had enough")
	go func() {
		for {
			if text, err := os.ReadFile(logPath(p)); err == nil && string(text) == "begun\n" {
				cancel(why)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := wantError(t, ctx, p); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if got := log(t, p); got != "begun\n" {
		t.Errorf("the output was not kept: %q", got)
	}
}
