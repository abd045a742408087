package flow_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// at returns the position before a step.
func at(kind task.StepKind, role task.Role) flow.Position {
	return flow.Position{
		Step: task.Step{Kind: kind, Role: role}, Status: task.Open, Round: 1,
		Order: "sha256:" + string(kind), Queue: fleettest.Queue,
	}
}

// ended returns the position of a task that ended.
func ended(nextAction string) flow.Position {
	kind, status := task.StepStuck, task.Stuck
	if nextAction == "commit" {
		kind, status = task.StepDone, task.Committed
	}
	return flow.Position{Step: task.Step{Kind: kind}, Status: status, Round: 1, NextAction: nextAction, Commit: "3f2a90c"}
}

func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }

// environment returns a test environment with the workflow and the activities of a script.
func environment(script *fleettest.Script) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	script.Register(env)
	return env
}

// result returns where the workflow ended.
func result(t *testing.T, env *testsuite.TestWorkflowEnvironment) (p flow.Position) {
	t.Helper()
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow has not ended")
	}
	if err := env.GetWorkflowResult(&p); err != nil {
		t.Fatal(err)
	}
	return p
}

func input() flow.Input {
	return flow.Input{Project: fleettest.Project, Task: "SHOP-1", Request: "sha256:request"}
}

// TestSteps follows a task through each step of a worker: its activity runs on the queue of
// the position, and its result is given to the next Advance.
func TestSteps(t *testing.T) {
	script := &fleettest.Script{Positions: []flow.Position{
		at(task.StepDraft, task.RoleExecutor), at(task.StepReview, ""), at(task.StepAssist, task.RoleResearcher),
		at(task.StepAssist, task.RolePlanChecker), at(task.StepCommit, ""), ended("commit"),
	}}
	script.Work = func(ctx context.Context, kind string, o flow.Order) (flow.Done, error) {
		info := activity.GetInfo(ctx)
		if info.TaskQueue != fleettest.Queue || info.HeartbeatTimeout != 30*time.Second || info.ScheduleToCloseTimeout < 24*time.Hour {
			t.Errorf("%s runs on %s with the timeouts %s and %s", kind, info.TaskQueue, info.HeartbeatTimeout, info.ScheduleToCloseTimeout)
		}
		if o.Project != fleettest.Project || o.Task != "SHOP-1" || o.Round != 1 {
			t.Errorf("%s has the order %+v", kind, o)
		}
		return flow.Done{Result: o.Digest + "-done", Draft: o.Digest + "-draft"}, nil
	}
	env := environment(script)
	env.ExecuteWorkflow(flow.Workflow, input())
	if got := result(t, env); !reflect.DeepEqual(got, ended("commit")) {
		t.Errorf("it ended as %+v", got)
	}
	if got, want := script.Done(), []string{flow.Draft, flow.Review, flow.Research, flow.Assist, flow.Commit}; !slices.Equal(got, want) {
		t.Errorf("the activities were %v, want %v", got, want)
	}
	var results []string
	for _, m := range script.Moves("SHOP-1") {
		results = append(results, m.Result)
		if m.Request != "sha256:request" || m.Stop != "" || m.Draft != strings.Replace(m.Result, "-done", "-draft", 1) {
			t.Errorf("the home was told %+v", m)
		}
	}
	want := []string{"", "sha256:draft-done", "sha256:review-done", "sha256:assist-done", "sha256:assist-done", "sha256:commit-done"}
	if !slices.Equal(results, want) {
		t.Errorf("the home was given %q, want %q", results, want)
	}
}

// TestHeartbeat runs an order with a heartbeat of the input.
func TestHeartbeat(t *testing.T) {
	script := &fleettest.Script{Positions: []flow.Position{at(task.StepReview, ""), ended("stuck")}}
	script.Work = func(ctx context.Context, _ string, _ flow.Order) (flow.Done, error) {
		if got := activity.GetInfo(ctx).HeartbeatTimeout; got != time.Second {
			t.Errorf("the heartbeat is %s", got)
		}
		return flow.Done{}, nil
	}
	in := input()
	in.Heartbeat = time.Second
	env := environment(script)
	env.ExecuteWorkflow(flow.Workflow, in)
	if got := result(t, env); got.NextAction != "stuck" {
		t.Errorf("it ended as %+v", got)
	}
}

// TestParked skips the wait for the end of a usage limit, and waits for a home whose clock
// is behind.
func TestParked(t *testing.T) {
	park := at(task.StepPark, "")
	script := &fleettest.Script{Positions: []flow.Position{park, park, ended("commit")}}
	env := environment(script)
	start := env.Now()
	for i := range script.Positions {
		script.Positions[i].Until = start.Add(72 * time.Hour).Format(time.RFC3339)
	}
	env.ExecuteWorkflow(flow.Workflow, input())
	if got := result(t, env); got.NextAction != "commit" {
		t.Errorf("it ended as %+v", got)
	}
	if waited := env.Now().Sub(start); waited < 71*time.Hour || waited > 72*time.Hour+time.Minute {
		t.Errorf("it waited %s", waited)
	}
	if n := len(script.Moves("SHOP-1")); n != 3 {
		t.Errorf("the home was asked %d times", n)
	}
}

// TestAsk waits for an answer, or until the question takes its default.
func TestAsk(t *testing.T) {
	answer := flow.Answer{Question: "51441088", Choice: 2, By: "alice"}
	for name, answered := range map[string]bool{"answered": true, "expired": false} {
		t.Run(name, func(t *testing.T) {
			ask := at(task.StepAsk, "")
			ask.Status = task.Waiting
			script := &fleettest.Script{Positions: []flow.Position{ask, ended("commit")}}
			env := environment(script)
			start := env.Now()
			script.Positions[0].Until = start.Add(48 * time.Hour).Format(time.RFC3339)
			if answered {
				env.RegisterDelayedCallback(func() { env.SignalWorkflow(flow.SignalAnswer, answer) }, time.Hour)
			}
			env.ExecuteWorkflow(flow.Workflow, input())
			if got := result(t, env); got.NextAction != "commit" {
				t.Errorf("it ended as %+v", got)
			}
			moves := script.Moves("SHOP-1")
			waited := env.Now().Sub(start)
			switch {
			case len(moves) != 2:
				t.Errorf("the home was asked %d times", len(moves))
			case answered && (waited > 2*time.Hour || !slices.Equal(moves[1].Answers, []flow.Answer{answer})):
				t.Errorf("after %s the home was given %+v", waited, moves[1].Answers)
			case !answered && (waited < 47*time.Hour || len(moves[1].Answers) > 0):
				t.Errorf("after %s the home was given %+v", waited, moves[1].Answers)
			}
		})
	}
}

// TestFailures ends a task with the code, the message and the hint of an activity that does
// not help to repeat.
func TestFailures(t *testing.T) {
	final := flow.Final(errs.New(errs.TaskNoText, "SHOP-1 has no text").WithHint("give it one"))
	for _, c := range []struct {
		name    string
		advance error
		work    error
		step    task.StepKind
		want    flow.Failure
	}{
		{"advance", final, nil, task.StepDraft, flow.Failure{Code: errs.TaskNoText, Message: "SHOP-1 has no text", Hint: "give it one"}},
		{"order", nil, final, task.StepDraft, flow.Failure{Code: errs.TaskNoText, Message: "SHOP-1 has no text", Hint: "give it one"}},
		{"no code", nil, temporal.NewNonRetryableApplicationError("broken", "Panic", nil), task.StepReview, flow.Failure{Code: errs.Internal, Message: "broken"}},
		{"unknown step", nil, nil, task.StepMerge, flow.Failure{Code: errs.Internal, Message: `the home gave the step "merge", which no worker can take`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := &fleettest.Script{
				Decide: func(context.Context, flow.Move) (flow.Position, error) { return at(c.step, ""), c.advance },
				Work:   func(context.Context, string, flow.Order) (flow.Done, error) { return flow.Done{}, c.work },
			}
			env := environment(script)
			env.ExecuteWorkflow(flow.Workflow, input())
			got := result(t, env)
			if got.NextAction != flow.ActionFailed || got.Reason != string(c.want.Code) || got.Failure == nil || *got.Failure != c.want {
				t.Errorf("it ended as %+v with %+v", got, got.Failure)
			}
		})
	}
}

// TestRetries repeats an activity until it succeeds. The environment gives up after 10
// attempts, a server never.
func TestRetries(t *testing.T) {
	script := &fleettest.Script{Positions: []flow.Position{at(task.StepDraft, ""), ended("commit")}}
	attempts := 0
	script.Work = func(context.Context, string, flow.Order) (flow.Done, error) {
		if attempts++; attempts < 10 {
			return flow.Done{}, errors.New("the remote is unreachable")
		}
		return flow.Done{Result: "sha256:draft"}, nil
	}
	env := environment(script)
	start := env.Now()
	env.ExecuteWorkflow(flow.Workflow, input())
	if got := result(t, env); got.NextAction != "commit" || attempts != 10 {
		t.Errorf("after %d attempts it ended as %+v", attempts, got)
	}
	if waited := env.Now().Sub(start); waited > 10*time.Minute {
		t.Errorf("it waited %s", waited)
	}
}

// TestDependencies starts a task after its dependencies, and tells its dependents.
func TestDependencies(t *testing.T) {
	for _, c := range []struct {
		name    string
		ends    []flow.Dependency
		want    string
		reason  string
		started bool
	}{
		{"committed", []flow.Dependency{{Task: "B", NextAction: "commit"}, {Task: "B", NextAction: "commit"}, {Task: "A", NextAction: "commit"}}, "commit", "", true},
		{"another is stuck", []flow.Dependency{{Task: "C", NextAction: "stuck"}, {Task: "A", NextAction: "commit"}, {Task: "B", NextAction: "commit"}}, "commit", "", true},
		{"another is committed", []flow.Dependency{{Task: "A", NextAction: "commit"}, {Task: "C", NextAction: "commit"}}, flow.ActionBlocked, flow.Stopped, false},
		{"committed, then stuck", []flow.Dependency{{Task: "A", NextAction: "commit"}, {Task: "A", NextAction: "stuck"}, {Task: "B", NextAction: "commit"}}, "commit", "", true},
		{"stuck", []flow.Dependency{{Task: "A", NextAction: "commit"}, {Task: "B", NextAction: "stuck"}}, flow.ActionBlocked, "B is not committed", false},
		{"stopped", []flow.Dependency{{Task: "A", NextAction: "commit"}}, flow.ActionBlocked, flow.Stopped, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := &fleettest.Script{Positions: []flow.Position{ended("commit")}}
			env := environment(script)
			var signalled []string
			gone := env.OnSignalExternalWorkflow("default-test-namespace", flow.WorkflowID(fleettest.Project, "gone"), "", flow.SignalDependency, flow.Dependency{Task: "SHOP-1", NextAction: c.want})
			gone.Return(errors.New("unknown workflow"))
			next := env.OnSignalExternalWorkflow("default-test-namespace", flow.WorkflowID(fleettest.Project, "next"), "", flow.SignalDependency, flow.Dependency{Task: "SHOP-1", NextAction: c.want})
			next.Return(func(_, id, _, _ string, _ any) error { signalled = append(signalled, id); return nil })
			for i, d := range c.ends {
				env.RegisterDelayedCallback(func() { env.SignalWorkflow(flow.SignalDependency, d) }, time.Duration(i+1)*time.Hour)
			}
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(flow.SignalDependents, []string{"gone", "next"}) }, time.Minute)
			env.RegisterDelayedCallback(env.CancelWorkflow, 24*time.Hour)
			in := input()
			in.DependsOn = []string{"A", "B"}
			env.ExecuteWorkflow(flow.Workflow, in)
			if got := result(t, env); got.NextAction != c.want || got.Reason != c.reason {
				t.Errorf("it ended as %+v", got)
			}
			if started := len(script.Moves("SHOP-1")) > 0; started != c.started {
				t.Errorf("started: %t", started)
			}
			if len(signalled) != 1 {
				t.Errorf("it signalled %q", signalled)
			}
		})
	}
}

// TestStop cancels the workflow in each step, and while the home decides: the home is signalled,
// and no other step begins.
func TestStop(t *testing.T) {
	for _, step := range []task.StepKind{task.StepAsk, task.StepPark, task.StepDraft, task.StepReview, task.StepAssist, task.StepCommit, "advance"} {
		t.Run(string(step), func(t *testing.T) {
			var env *testsuite.TestWorkflowEnvironment
			script := &fleettest.Script{}
			script.Decide = func(_ context.Context, m flow.Move) (flow.Position, error) {
				switch {
				case m.Stop != "":
					return at(task.StepDraft, ""), nil // It cannot be stopped here.
				case step == "advance":
					env.CancelWorkflow()
					return at(task.StepDraft, ""), nil
				default:
					return at(step, ""), nil
				}
			}
			script.Work = func(context.Context, string, flow.Order) (flow.Done, error) {
				env.CancelWorkflow()
				return flow.Done{}, activity.ErrResultPending
			}
			env = environment(script)
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
			env.ExecuteWorkflow(flow.Workflow, input())
			if got := result(t, env); got.NextAction != "stuck" || got.Reason != flow.Stopped {
				t.Errorf("it ended as %+v", got)
			}
			moves := script.Moves("SHOP-1")
			if len(moves) != 2 || moves[1].Stop != flow.Stopped || len(script.Done()) > 0 {
				t.Errorf("the home was told %+v, and %v was done", moves, script.Done())
			}
		})
	}
}

// TestShown checks that the memo and the search attribute are written only if they change.
func TestShown(t *testing.T) {
	waiting := at(task.StepAsk, "")
	waiting.Status, waiting.Question = task.Waiting, &flow.Question{Fingerprint: "51441088", Text: "Which port?"}
	script := &fleettest.Script{Positions: []flow.Position{
		at(task.StepDraft, ""), at(task.StepReview, ""), waiting, at(task.StepCommit, ""), ended("commit"),
	}}
	env := environment(script)
	var memos []flow.Position
	env.OnUpsertMemo(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		memos = append(memos, args[0].(map[string]any)[flow.MemoPosition].(flow.Position))
	})
	var statuses []string
	env.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
		status, _ := args[0].(temporal.SearchAttributes).GetKeyword(flow.StatusAttribute())
		statuses = append(statuses, status)
	})
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(flow.SignalAnswer, flow.Answer{Choice: 1}) }, time.Hour)
	env.ExecuteWorkflow(flow.Workflow, input())
	result(t, env)
	if want := []string{"open", "waiting", "open", "committed"}; !slices.Equal(statuses, want) {
		t.Errorf("the statuses were %q, want %q", statuses, want)
	}
	if len(memos) != 4 {
		t.Fatalf("%d memos: %+v", len(memos), memos)
	}
	for _, m := range memos {
		if m.Order != "" || m.Queue != "" {
			t.Errorf("the memo shows the order: %+v", m)
		}
	}
	if memos[1].Question.Text != "Which port?" || memos[3].Commit != "3f2a90c" {
		t.Errorf("the memos were %+v", memos)
	}
}
