//go:build unix

package verify_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/verify"
	"github.com/switchyard-dev/switchyard/spawner/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plan is one run of a command in a new project.
func plan(t testing.TB, command string) verify.Plan {
	t.Helper()
	k, err := process.NewKeeper()
	if err != nil {
		t.Fatal(err)
	}
	return verify.Plan{Keeper: k, Command: command, Runs: 1, Output: verify.OutputFile{Root: t.TempDir(), Task: "T1", Round: 2}}
}

func run(t testing.TB, p verify.Plan) verify.Outcome {
	t.Helper()
	o, err := verify.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// log returns the output file's content.
func log(t testing.TB, p verify.Plan) string {
	t.Helper()
	text, err := os.ReadFile(logPath(p))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func logPath(p verify.Plan) string {
	return filepath.Join(p.Output.Root, ".switchyard", "verify", "T1-r2.log")
}

// settle takes the times out of an outcome.
func settle(t testing.TB, o *verify.Outcome) {
	t.Helper()
	for i := range o.Runs {
		if ms := o.Runs[i].DurationMS; ms < 0 {
			t.Errorf("run %d took %d ms", i+1, ms)
		}
		o.Runs[i].DurationMS = 0
	}
}

func digest(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

func TestOutcome(t *testing.T) {
	const notFound = 127
	for name, c := range map[string]struct {
		command string
		output  string
		green   bool
		run     verify.RunResult
	}{
		"green":           {"echo ok", "ok\n", true, verify.RunResult{End: process.Exited}},
		"red":             {"echo bad >&2; exit 1", "bad\n", false, verify.RunResult{ExitCode: 1, End: process.Exited}},
		"last one counts": {"false; true", "", true, verify.RunResult{End: process.Exited}},
		"unknown command": {"exec 2>&-; no-such-command-anywhere", "", false, verify.RunResult{ExitCode: notFound, End: process.Exited}},
		"killed":          {"kill -KILL $$", "", false, verify.RunResult{ExitCode: -1, Signal: "SIGKILL", End: process.Exited}},
		"leaves a child":  {"sleep 60 & echo ok", "ok\n", true, verify.RunResult{End: process.Exited}},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, c.command)
			got := run(t, p)
			settle(t, &got)
			want := verify.Outcome{
				Green: c.green, Runs: []verify.RunResult{c.run}, Excerpt: c.output,
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

func TestOutcomeAsJSON(t *testing.T) {
	p := plan(t, "kill -TERM $$")
	o := run(t, p)
	settle(t, &o)
	got, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"green":false,"runs":[{"exit_code":-1,"signal":"SIGTERM","end":"exited","duration_ms":0}],"excerpt":"",` +
		`"output_bytes":0,"output_digest":"` + digest("") + `","output":".switchyard/verify/T1-r2.log"}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// count is a command that succeeds but for its nth run.
func count(n int) string {
	return fmt.Sprintf(`echo x >>count; n=$(wc -l <count); printf "run of %%s" $n; [ $n -ne %d ]`, n)
}

func TestEveryRunHasToBeGreen(t *testing.T) {
	ok, bad := verify.RunResult{End: process.Exited}, verify.RunResult{ExitCode: 1, End: process.Exited}
	const first, second, third = "== run 1 of 3 ==\nrun of 1", "\n== run 2 of 3 ==\nrun of 2", "\n== run 3 of 3 ==\nrun of 3"
	for name, c := range map[string]struct {
		red    int
		want   []verify.RunResult
		output string
	}{
		"all green":  {0, []verify.RunResult{ok, ok, ok}, first + second + third},
		"first red":  {1, []verify.RunResult{bad}, first},
		"second red": {2, []verify.RunResult{ok, bad}, first + second},
		"last red":   {3, []verify.RunResult{ok, ok, bad}, first + second + third},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, count(c.red))
			p.Runs = 3
			got := run(t, p)
			settle(t, &got)
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
	p.Timeout, p.Runs = 300*time.Millisecond, 2
	got := run(t, p)
	if got.Green || len(got.Runs) != 1 || got.Runs[0].End != process.TimedOut || got.Runs[0].ExitCode != 0 {
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
			if got.Green || got.Runs[0].End != process.OutputLimit || got.OutputBytes != 50000 || got.OutputDigest != digest(text) || log(t, p) != text {
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
				_ = os.WriteFile(filepath.Join(p.Output.Root, "seen"), nil, 0o600)
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
	p.Env = []string{"VERIFY_BOTH=the plan's"}
	dir, err := filepath.EvalSymlinks(p.Output.Root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, p).Excerpt, "ours the plan's\n"+dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Dir = filepath.Join(dir, ".switchyard")
	if got, want := run(t, p).Excerpt, "ours the plan's\n"+p.Dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// wantError fails unless the plan ends in an error that says nothing is green.
func wantError(t *testing.T, ctx context.Context, p verify.Plan) error {
	t.Helper()
	o, err := verify.Run(ctx, p)
	if err == nil || !reflect.DeepEqual(o, verify.Outcome{}) {
		t.Fatalf("got %+v, %v", o, err)
	}
	return err
}

func TestPlansThatVerifyNothing(t *testing.T) {
	for name, change := range map[string]func(*verify.Plan){
		"no keeper":             func(p *verify.Plan) { p.Keeper = nil },
		"no command":            func(p *verify.Plan) { p.Command = "" },
		"blank command":         func(p *verify.Plan) { p.Command = " \t\n" },
		"no run":                func(p *verify.Plan) { p.Runs = 0 },
		"negative runs":         func(p *verify.Plan) { p.Runs = -1 },
		"negative timeout":      func(p *verify.Plan) { p.Timeout = -1 },
		"negative output limit": func(p *verify.Plan) { p.OutputLimit = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, "true")
			change(&p)
			if err := wantError(t, t.Context(), p); fault.CodeOf(err) != verify.CodePlan {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(p.Output.Root, ".switchyard")); err == nil {
				t.Error("the state directory was created")
			}
		})
	}
}

func TestNoShellIsAnError(t *testing.T) {
	p := plan(t, "true")
	t.Setenv("PATH", t.TempDir())
	if err := wantError(t, t.Context(), p); fault.CodeOf(err) != process.CodeStart {
		t.Errorf("got %v", err)
	}
}

func TestNoFolderIsAnError(t *testing.T) {
	p := plan(t, "true")
	p.Dir = filepath.Join(p.Output.Root, "none")
	if err := wantError(t, t.Context(), p); fault.CodeOf(err) != process.CodeStart {
		t.Errorf("got %v", err)
	}
	p = plan(t, "true")
	p.Output.Root = filepath.Join(p.Output.Root, "none")
	if err := wantError(t, t.Context(), p); fault.CodeOf(err) != verify.CodeOutput {
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
