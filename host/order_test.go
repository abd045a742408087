package host_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/hosttest"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/spawner"
)

// fleet runs task T of a site like a fleet does: the site's engine is the home, and another
// engine in a clone carries out the orders.
type fleet struct {
	*runSite
	worker string // the worker's checkout
	tree   string // the task's worktree there
	// repeat repeats every call at home.
	repeat bool
}

func newFleet(t testing.TB, s *runSite) *fleet {
	t.Helper()
	dir := filepath.Join(filepath.Dir(s.home), "worker")
	s.git(t, "clone", "-q", "--no-local", s.root, dir)
	return &fleet{runSite: s, worker: dir, tree: filepath.Join(filepath.Dir(dir), "tree")}
}

func (f *fleet) carry(t testing.TB, o host.Order) host.OrderResult {
	t.Helper()
	return f.carryUntil(t, t.Context(), o)
}

// carryUntil carries out an order until the context ends.
func (f *fleet) carryUntil(t testing.TB, ctx context.Context, o host.Order) host.OrderResult {
	t.Helper()
	if _, err := os.Stat(f.tree); err != nil {
		f.gitIn(t, f.worker, "worktree", "add", "-q", "-b", "switchyard/T", f.tree)
	}
	opts := f.options()
	opts.Worktree = f.tree
	e := hosttest.Engine(t, f.worker, opts)
	r, err := e.Carry(ctx, o, nil)
	if err != nil {
		t.Fatalf("the order to %s %s fails: %s: %v", o.Step.Kind, o.Step.Role, errs.CodeOf(err), err)
	}
	return r
}

// run drives task T to its end, and answers questions with answer.
func (f *fleet) run(t testing.TB, req api.RunRequest, answers ...api.AnswerRequest) host.Position {
	t.Helper()
	e := f.engine(t)
	req.Prompt = runPrompt
	next := host.AdvanceRequest{RunRequest: req, Publish: func(context.Context, task.Branch) error { return nil }}
	for range 100 {
		p, err := e.Advance(t.Context(), "T", next)
		if f.repeat && err == nil {
			p, err = e.Advance(t.Context(), "T", next)
		}
		if err != nil {
			t.Fatalf("the home fails: %s: %v", errs.CodeOf(err), err)
		}
		next.Result, next.Answers = nil, nil
		switch {
		case p.Over:
			return p
		case p.Order != nil:
			r := f.carry(t, *p.Order)
			next.Result = &r
		case p.Step.Kind == task.StepAsk && len(answers) > 0:
			next.Answers, answers = answers[:1], answers[1:]
		default:
			return p
		}
	}
	t.Fatal("the task does not end")
	return host.Position{}
}

// kinds returns the kinds of task T's events with what they decide.
func (s *runSite) kinds(t testing.TB) []string {
	t.Helper()
	var kinds []string
	for ev, err := range s.engine(t).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Task == "T" {
			kinds = append(kinds, ev.Kind)
		}
	}
	return kinds
}

// TestOrders tests that a fleet gives the same decisions and events as Run.
func TestOrders(t *testing.T) {
	sequential(t)
	for _, c := range []struct {
		name, config string
		agents       roles
	}{
		{"clean", once, roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Clean()}}},
		{"verified", once + "verify: \"true\"\n", roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Clean()}}},
		{"red", once + "verify: \"false\"\nmax_rounds: 2\n", roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}}},
		{"two rounds", once + "verify: \"true\"\n", roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}, "critic": {fakeagent.Finds(wrong()), fakeagent.Clean()}}},
		{"no change", once, roles{"executor": {fakeagent.Executes()}}},
		{"critic fails", once, roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.CannotWrite()}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			local := newRunSite(t, c.config, c.agents)
			want, err := local.run(t, api.RunRequest{})
			if err != nil {
				t.Fatal(err)
			}
			for _, repeat := range []bool{false, true} {
				f := newFleet(t, newRunSite(t, c.config, c.agents))
				f.repeat = repeat
				got := f.run(t, api.RunRequest{})
				if got.NextAction != want.NextAction || got.Reason != want.Reason || got.Round != want.Round {
					t.Errorf("the fleet ends with %s (%s) in round %d, want %s (%s) in round %d; error %v", got.NextAction, got.Reason, got.Round, want.NextAction, want.Reason, want.Round, got.Error)
				}
				if got, want := f.kinds(t), local.kinds(t); !slices.Equal(got, want) {
					t.Errorf("the fleet records\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
}

// TestOrdersOfReviews tests that an order to review says whether the home's policy routes
// contradictions: the worker does not know the policy.
func TestOrdersOfReviews(t *testing.T) {
	for route, want := range map[string]bool{"contradiction": true, "style": false} {
		f := newFleet(t, newRunSite(t, once+"policy: policy\n", roles{"executor": {fakeagent.Edits()}}))
		policy := `# METADATA
# title: Routing
# custom: {version: 0.1.0, adr: ADR-0001}
package switchyard.routing

destinations := {"commit": {"kind": "terminal", "advances_round": false}, "stuck": {"kind": "terminal", "advances_round": false}}

route_table := {"` + route + `": "stuck"}

precedence := ["stuck"]

decision := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
	input.verify != "red"
} else := {"next_action": "stuck", "reason": "stuck-finding"}
`
		if err := os.Mkdir(f.path("policy"), 0o700); err != nil {
			t.Fatal(err)
		}
		f.write(t, "policy/routing.rego", policy)
		home := f.engine(t)
		next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
		for _, step := range []task.StepKind{task.StepDraft, task.StepReview} {
			p, err := home.Advance(t.Context(), "T", next)
			if err != nil || p.Order == nil || p.Step.Kind != step {
				t.Fatalf("%+v, %v", p, err)
			}
			if is := p.Order.Contradictions; is != (want && step == task.StepReview) {
				t.Errorf("the order to %s, with a policy for %s, has %v", step, route, is)
			}
			if step == task.StepDraft {
				r := f.carry(t, *p.Order)
				next.Result = &r
			}
		}
	}
}

// TestStaleOrders tests that a worker carries out the next step alone, and that its home
// takes no decision from it.
func TestStaleOrders(t *testing.T) {
	f := newFleet(t, newRunSite(t, once, nil))
	home := f.engine(t)
	next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
	p, err := home.Advance(t.Context(), "T", next)
	if err != nil {
		t.Fatal(err)
	}
	stale := *p.Order
	stale.Step.Kind = task.StepReview
	if _, err := hosttest.Engine(t, f.worker, f.options()).Carry(t.Context(), stale, nil); errs.CodeOf(err) != errs.OrderStale {
		t.Errorf("an order to review a task without a draft gets %v", err)
	}
	other := *p.Order
	other.Events = slices.Clone(other.Events)
	for i := range other.Events {
		other.Events[i].N, other.Events[i].Hash = 1000, "x"
	}
	if _, err := hosttest.Engine(t, f.worker, f.options()).Carry(t.Context(), other, nil); errs.CodeOf(err) != errs.LedgerTampered {
		t.Errorf("an order with events of another chain gets %v", err)
	}
	outside := *p.Order
	outside.Files = []host.StateFile{{Path: ".switchyard/reports/../../x"}}
	if _, err := hosttest.Engine(t, f.worker, f.options()).Carry(t.Context(), outside, nil); errs.CodeOf(err) != errs.StateUnsafe {
		t.Errorf("an order with a file outside of its directory gets %v", err)
	}
	r := f.carry(t, *p.Order)
	r.Events[0].Kind = string(task.KindDecided)
	next.Result = &r
	if _, err := home.Advance(t.Context(), "T", next); errs.CodeOf(err) != errs.OrderStale {
		t.Errorf("a result with a decision gets %v", err)
	}
}

// TestOneHome tests that a project has one home at a time.
func TestOneHome(t *testing.T) {
	s := newRunSite(t, once, nil)
	e := s.engine(t)
	release, err := e.HoldHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine(t).HoldHome(t.Context()); errs.CodeOf(err) != errs.FleetHomeRunning {
		t.Errorf("a second home gets %v", err)
	}
	release()
	release, err = s.engine(t).HoldHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// TestOrderThatEndsAsItIsCancelled: a draft that is recorded is not lost, although the worker
// is stopped before its order has ended.
func TestOrderThatEndsAsItIsCancelled(t *testing.T) {
	f := newFleet(t, newRunSite(t, once, roles{"executor": {fakeagent.Edits()}}))
	p, err := f.engine(t).Advance(t.Context(), "T", host.AdvanceRequest{
		RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.now = func() time.Time { // It is asked before the receipt, after the run log is written.
		if _, err := os.Stat(filepath.Join(f.worker, ".switchyard", spawner.RunLogFile)); err == nil {
			cancel()
		}
		return time.Now()
	}
	r := f.carryUntil(t, ctx, *p.Order)
	drafted := false
	for _, e := range r.Events {
		drafted = drafted || e.Kind == string(task.KindSpawnEnded)
	}
	if ctx.Err() == nil || !drafted || r.Interrupted || r.Failure != nil {
		t.Errorf("cancelled %v, drafted %v, interrupted %v, failure %v", ctx.Err(), drafted, r.Interrupted, r.Failure)
	}
}

// TestOrderOfStoppedTask tests that what an agent has used is recorded, once, if somebody
// stops its task meanwhile.
func TestOrderOfStoppedTask(t *testing.T) {
	f := newFleet(t, newRunSite(t, once, roles{"executor": {fakeagent.Edits()}}))
	e := f.engine(t)
	next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
	p, err := e.Advance(t.Context(), "T", next)
	if err != nil {
		t.Fatal(err)
	}
	r := f.carry(t, *p.Order)
	if _, err := e.Stop(t.Context(), "T", api.StopRequest{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	next.Result = &r
	for range 2 {
		if p, err = e.Advance(t.Context(), "T", next); err != nil || !p.Over || p.NextAction != "stuck" || p.Reason != "enough" {
			t.Fatalf("the task is at %+v: %v", p.RunResult, err)
		}
	}
	runs := 0
	for ev, err := range e.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Task == "_spawns" && ev.Kind == string(task.KindSpawnEnded) {
			runs++
		}
	}
	if runs != 1 || len(f.trailOf(t)) != 1 {
		t.Errorf("%d runs and %d lines of the run log are recorded, want one of each", runs, len(f.trailOf(t)))
	}
}

// forge says in a result that its agent wrote its report to path.
func forge(t testing.TB, r *host.OrderResult, path string) {
	t.Helper()
	for i, ev := range r.Events {
		if ev.Kind == string(task.KindSpawnEnded) {
			r.Events[i].Body = bytes.Replace(ev.Body, []byte(`"receipt":{`), []byte(`"receipt":{"path":"`+path+`",`), 1)
			return
		}
	}
	t.Fatal("no agent has run")
}

// TestOrderWritesNoFilesOfOthers tests that the result of an order cannot replace files of
// other tasks.
func TestOrderWritesNoFilesOfOthers(t *testing.T) {
	f := newFleet(t, newRunSite(t, once, roles{"executor": {fakeagent.Edits()}}))
	opts := f.options()
	var warned []error
	opts.Warn = func(err error) { warned = append(warned, err) }
	e := hosttest.Engine(t, f.root, opts)
	next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
	p, err := e.Advance(t.Context(), "T", next)
	if err != nil {
		t.Fatal(err)
	}
	r := f.carry(t, *p.Order)
	// T-r1 is a task, too.
	foreign := []string{"reports/other.json", "handoff/U-r1-findings.md", "handoff/U-r2-findings.md", "handoff/T-r1-r1-findings.md", "verify/T-r1-r1.log", "verify/U-r1.log"}
	for _, name := range foreign {
		r.Files = append(r.Files, host.StateFile{Path: ".switchyard/" + name, Data: []byte("{}")})
	}
	forge(t, &r, ".switchyard/handoff/U-r2-findings.md")
	next.Result = &r
	if _, err := e.Advance(t.Context(), "T", next); err != nil {
		t.Fatal(err)
	}
	if len(warned) != len(foreign) {
		t.Errorf("there are the warnings %v, want %d", warned, len(foreign))
	}
	for _, name := range foreign {
		if _, err := os.Stat(f.path(".switchyard/" + name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestOrderSendsNoOtherFiles tests that the home does not send a file of the project to
// workers because a result says that an agent wrote its report there.
func TestOrderSendsNoOtherFiles(t *testing.T) {
	for _, path := range []string{".env", ".git/config", ".switchyard/ledger.db", ".switchyard/reports/../../.env"} {
		f := newFleet(t, newRunSite(t, once, roles{"executor": {fakeagent.Edits()}}))
		if err := os.WriteFile(f.path(".env"), []byte("TOKEN=secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		e := f.engine(t)
		next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
		p, err := e.Advance(t.Context(), "T", next)
		if err != nil {
			t.Fatal(err)
		}
		r := f.carry(t, *p.Order)
		forge(t, &r, path)
		next.Result = &r
		if p, err = e.Advance(t.Context(), "T", next); err != nil || p.Order == nil {
			t.Fatalf("%s: there is no next order: %+v, %v", path, p, err)
		}
		for _, sent := range p.Order.Files {
			if sent.Path == path {
				t.Errorf("%s is sent", path)
			}
		}
	}
}

// TestOrderStopped: a stop does not start a task that does not exist yet, and does not replace
// the reason of a task that is stuck already.
func TestOrderStopped(t *testing.T) {
	f := newFleet(t, newRunSite(t, once, roles{"executor": {fakeagent.Executes()}}))
	next := host.AdvanceRequest{RunRequest: api.RunRequest{Prompt: runPrompt}, Publish: func(context.Context, task.Branch) error { return nil }}
	stopped := next
	stopped.Stop = "stopped"
	if p, err := f.engine(t).Advance(t.Context(), "T", stopped); err != nil || p.Over || p.Order != nil || len(f.kinds(t)) > 0 {
		t.Errorf("a task that has not begun is stopped as %+v, %v, with the events %q", p, err, f.kinds(t))
	}
	p, err := f.engine(t).Advance(t.Context(), "T", next)
	if err != nil || p.Order == nil {
		t.Fatalf("the task cannot begin after that: %+v, %v", p, err)
	}
	r := f.carry(t, *p.Order)
	stopped.Result = &r
	for range 2 {
		if p, err = f.engine(t).Advance(t.Context(), "T", stopped); err != nil || !p.Over || p.Reason != "executor-no-change" {
			t.Errorf("a stuck task is stopped as %+v, %v", p, err)
		}
	}
	if got := f.kinds(t); len(got) == 0 || slices.Index(got, string(task.KindStopped)) != len(got)-1 {
		t.Errorf("the events are %q", got)
	}
}
