package worker_test

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	fleetworker "github.com/switchyard-dev/switchyard/fleet/internal/worker"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/plugins"
)

// hand drives a task activity by activity, without a workflow.
type hand struct {
	*site
	// id is the id of the task, T unless a test changes it.
	id      string
	request string
	// at is the last position.
	at flow.Position
	// warn receives the warnings of workers. A warning fails the test if it is nil.
	warn func(error)
	// stop stops workers once it is closed.
	stop chan struct{}
}

func newHand(t testing.TB, config string, agents roles) *hand {
	t.Helper()
	s := newSite(t, config, agents)
	return &hand{site: s, id: "T", request: s.request(t, api.RunRequest{Prompt: prompt}).Request, stop: make(chan struct{})}
}

// oneRound are agents whose draft is committed in round 1.
func oneRound() roles { return roles{"executor": {fakeagent.Edits()}, "critic": {fakeagent.Clean()}} }

// tryAdvance lets the home decide.
func (h *hand) tryAdvance(t testing.TB, m flow.Move) error {
	t.Helper()
	m.Task, m.Request = h.id, h.request
	var err error
	h.at, err = h.home(t).Advance(t.Context(), m)
	return err
}

func (h *hand) advance(t testing.TB, m flow.Move) {
	t.Helper()
	if err := h.tryAdvance(t, m); err != nil {
		t.Fatalf("the home fails: %v", err)
	}
}

// tryCarry lets the worker of a name carry out the order of the last position. lost are the
// heartbeats of the attempt before.
func (h *hand) tryCarry(t testing.TB, name string, lost ...flow.Progress) (done flow.Done, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerStopChannel(h.stop)
	if lost != nil {
		env.SetHeartbeatDetails(lost)
	}
	warn := h.warn
	if warn == nil {
		warn = func(err error) { t.Errorf("a warning: %v", err) }
	}
	fleetworker.Register(env, &fleetworker.Worker{
		Store: h.store(t), Dir: h.path(name), Environ: h.environ(), Supervisor: h.keeper,
		Plugins: plugins.Config{CacheDir: h.path("cache")}, Warn: warn,
	})
	result, err := env.ExecuteActivity(flow.Draft, flow.Order{Project: "shop", Task: h.id, Round: h.at.Round, Digest: h.at.Order})
	if err == nil {
		err = result.Get(&done)
	}
	return done, err
}

func (h *hand) carry(t testing.TB, name string, lost ...flow.Progress) flow.Done {
	t.Helper()
	done, err := h.tryCarry(t, name, lost...)
	if err != nil {
		t.Fatalf("the worker fails to %s %s: %v", h.at.Step.Kind, h.at.Step.Role, err)
	}
	return done
}

// finish drives the task from the last position to its end.
func (h *hand) finish(t testing.TB) {
	t.Helper()
	for h.at.NextAction == "" {
		if h.at.Order == "" {
			t.Fatalf("there is no order to %s", h.at.Step.Kind)
		}
		done := h.carry(t, "worker")
		h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	}
}

// calls returns the roles of the agents that ran.
func (h *hand) calls(t testing.TB) (roles []string) {
	t.Helper()
	for _, call := range fakeagent.Calls(t, h.script) {
		role, _ := call.Variable("SWITCHYARD_ROLE")
		roles = append(roles, role)
	}
	return roles
}

// wantCommitted tests that the task is committed once, and that its ledger is sound.
func (h *hand) wantCommitted(t testing.TB, calls ...string) {
	t.Helper()
	if h.at.NextAction != "commit" {
		t.Errorf("the task ends with %+v, failure %+v", h.at, h.at.Failure)
	}
	base := h.git(t, h.path("project"), "rev-parse", "main")
	if at := h.git(t, h.path("remote.git"), "rev-list", base+"..switchyard/T"); at != h.at.Commit {
		t.Errorf("the remote's branch has %q, want %s alone", at, h.at.Commit)
	}
	if got := h.calls(t); !slices.Equal(got, calls) {
		t.Errorf("agents are called as %q, want %q", got, calls)
	}
	if r, err := h.engine(t).Verify(t.Context()); err != nil || !r.Sound() {
		t.Errorf("the ledger is not sound: %v, %v", r.Problems, err)
	}
}

// wantFinal tests that an activity is not repeated after an error, which has a code.
func wantFinal(t testing.TB, err error, code errs.Code) {
	t.Helper()
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || app.Type() != string(code) || !app.NonRetryable() {
		t.Errorf("got the error %v, want a final %s", err, code)
	}
}

// wantRepeated tests that an activity is repeated after an error, and that the server has its
// code.
func wantRepeated(t testing.TB, err error, code errs.Code) {
	t.Helper()
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || app.Type() != string(code) || app.NonRetryable() {
		t.Errorf("got the error %v, want a %s that is repeated", err, code)
	}
}

// state returns task T as its home knows it.
func (h *hand) state(t testing.TB) api.TaskDetail {
	t.Helper()
	state, err := h.engine(t).Task(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	return state
}
