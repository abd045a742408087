package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestMain(m *testing.M) {
	playChild()
	goleak.VerifyTestMain(fakeagent.Prebuilt(m))
}

// sequential skips a slow test in short mode, as in the run of the race detector, which has nothing
// to find in it.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
}

const (
	issues = hosttest.Issues
	clean  = hosttest.Clean
)

var (
	noon          = hosttest.Noon
	request       = hosttest.Request
	randomRequest = hosttest.RandomRequest
)

func newEngine(t testing.TB, root string, now func() time.Time) *host.Engine {
	t.Helper()
	return hosttest.Engine(t, root, host.Options{Now: now})
}

// TestRoundIsDecidedOnce lets two engines decide the same round; the one that records
// later must not use its report for the next round, or replace the executor's instructions.
func TestRoundIsDecidedOnce(t *testing.T) {
	for _, second := range []struct{ name, report string }{
		{"the round advances", issues},
		{"the round stays", `{"critic":"critic","findings":[{"category":"infrastructure-mismatch"}]}`},
		{"the task ends", clean},
	} {
		t.Run(second.name, func(t *testing.T) {
			root := t.TempDir()
			read := func(d api.RoundResult) string {
				if d.Handoff == nil {
					return ""
				}
				text, err := os.ReadFile(filepath.Join(root, *d.Handoff))
				if err != nil {
					t.Fatal(err)
				}
				return string(text)
			}
			fast := newEngine(t, root, noon)
			if _, err := fast.Round(t.Context(), "T", request(`{"critic":"critic","findings":[{"category":"infrastructure-mismatch"}]}`)); err != nil {
				t.Fatal(err)
			}
			// The slow engine reads the clock after it has loaded the task.
			decided, proceed := make(chan struct{}), make(chan struct{})
			asked := 0
			slow := newEngine(t, root, func() time.Time {
				if asked++; asked == 1 {
					close(decided)
					<-proceed
				}
				return noon()
			})
			failed := make(chan error, 1)
			go func() {
				_, err := slow.Round(t.Context(), "T", request(strings.ReplaceAll(issues, "a.go", "slow.go")))
				failed <- err
			}()
			<-decided
			d, err := fast.Round(t.Context(), "T", request(second.report))
			if err != nil {
				t.Fatal(err)
			}
			instructions := read(d)
			close(proceed)
			if err := <-failed; errs.CodeOf(err) != errs.RoundShifted {
				t.Errorf("got %v, want %s", err, errs.RoundShifted)
			}
			if got := read(d); got != instructions {
				t.Errorf("the executor's instructions are\n%s\nwant\n%s", got, instructions)
			}
			x, err := fast.Explain(t.Context(), "T", 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(x.History) != 2 {
				t.Errorf("%d decisions are recorded, want 2", len(x.History))
			}
		})
	}
}

func TestEnginesShareAProject(t *testing.T) {
	root := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		e := newEngine(t, root, noon)
		wg.Go(func() {
			for n := range 3 {
				if _, err := e.Round(t.Context(), fmt.Sprintf("T-%d", i), request(issues)); err != nil {
					t.Errorf("task %d, round %d: %v", i, n+1, err)
				}
			}
		})
	}
	wg.Wait()
	tasks, err := newEngine(t, root, noon).Tasks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) != 8 {
		t.Fatalf("%d tasks, want 8", len(tasks))
	}
	for _, s := range tasks {
		if s.Status != task.Stuck || s.Round != 3 {
			t.Errorf("%s is %s in round %d", s.TaskID, s.Status, s.Round)
		}
	}
}

func TestRefusedRoundLeavesNothing(t *testing.T) {
	root := t.TempDir()
	e := newEngine(t, root, noon)
	for name, c := range map[string]struct {
		id   string
		req  host.Request
		code errs.Code
	}{
		"nobody to review": {"T", host.Request{Verify: host.VerifyRequest{Claim: policies.Absent}}, errs.SpawnBinaryMissing},
		"bad id":           {"../T", request(clean), errs.TaskInvalidID},
		"contradiction":    {"T", request(`{"critic":"critic","findings":[],"verdict":"issues_found"}`), "critic-output-verdict-contradiction"},
		"another task":     {"T", request(`{"critic":"critic","findings":[],"task_id":"U"}`), errs.ReportWrongTask},
		"another round":    {"T", request(`{"critic":"critic","findings":[],"round":2}`), errs.ReportWrongRound},
		"not JSON":         {"T", request(`passed`), "report-invalid-json"},
		"unknown policy":   {"T", host.Request{Reports: request(clean).Reports, Stdin: strings.NewReader(clean), Verify: host.VerifyRequest{Claim: policies.Absent}, Policy: "routing@9.9.9"}, errs.PolicyUnknown},
		"the wrong round":  {"T", host.Request{Reports: request(clean).Reports, Stdin: strings.NewReader(clean), Verify: host.VerifyRequest{Claim: policies.Absent}, Round: 2}, errs.RoundShifted},
		"no such function": {"T", host.Request{Reports: []api.ReportRef{{Plugin: "none", Path: api.Stdin}}, Stdin: strings.NewReader(clean), Verify: host.VerifyRequest{Claim: policies.Absent}}, "plugin-unknown"},
	} {
		if _, err := e.Round(t.Context(), c.id, c.req); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := os.Stat(filepath.Join(root, project.StateDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused round leaves state behind: %v", err)
	}
}

func TestCancelledRoundEnds(t *testing.T) {
	e := newEngine(t, t.TempDir(), noon)
	ctx, cancel := context.WithCancel(t.Context())
	silent, writer := io.Pipe()
	defer writer.Close()
	req := request("")
	req.Stdin = silent
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := e.Round(ctx, "T", req); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReportsOfDifferentTasksAreNeverOneRound(t *testing.T) {
	dir := t.TempDir()
	write := func(name, task string) api.ReportRef {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(`{"critic":"critic","task_id":"`+task+`","findings":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return api.ReportRef{Plugin: api.Auto, Path: path}
	}
	none, some := write("none.json", ""), write("some.json", "X")
	for _, refs := range [][]api.ReportRef{{none, some}, {some, none}} {
		_, err := newEngine(t, dir, noon).Route(t.Context(), host.Request{Reports: refs, Verify: host.VerifyRequest{Claim: policies.Absent}})
		if errs.CodeOf(err) != errs.ReportWrongTask {
			t.Errorf("got %v, want %s", err, errs.ReportWrongTask)
		}
	}
}

// TestPackagesAgree checks constants that two packages repeat because neither may import the
// other.
func TestPackagesAgree(t *testing.T) {
	if routing.MaxRoundsLimit != task.MaxRounds {
		t.Errorf("a policy takes a cap of %d rounds, a task one of %d", routing.MaxRoundsLimit, task.MaxRounds)
	}
}

func TestDecisionTooLargeForTheLedger(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	root := t.TempDir()
	one := `{"category":"style","file":"` + strings.Repeat("f", 200) + `","remediation":"`
	var b strings.Builder
	b.WriteString(`{"critic":"critic","findings":[`)
	for i := range 90_000 {
		fmt.Fprintf(&b, "%s%d\"},", one, i)
	}
	b.WriteString(one + `last"}]}`)
	_, err := hosttest.Engine(t, root, host.Options{Now: noon}).Round(t.Context(), "T", request(b.String()))
	if errs.CodeOf(err) != errs.DecisionTooLarge {
		t.Fatalf("got %v, want %s", err, errs.DecisionTooLarge)
	}
	if _, err := os.Stat(filepath.Join(root, project.StateDir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused round leaves state behind: %v", err)
	}
}
