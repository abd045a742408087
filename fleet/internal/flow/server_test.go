package flow_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// start starts the workflow of a task on a server.
func start(t *testing.T, c client.Client, in flow.Input) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: flow.WorkflowID(in.Project, in.Task), TaskQueue: flow.TaskQueue,
		TypedSearchAttributes: temporal.NewSearchAttributes(flow.ProjectAttribute().ValueSet(in.Project), flow.StatusAttribute().ValueSet(flow.StatusPending)),
	}, flow.Workflow, in)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestServer tests behaviour that the test environment does not have: the cancellation of an
// activity, and signals to a workflow that continues as new.
func TestServer(t *testing.T) {
	const stopped, asked, answers = "SHOP-1", "SHOP-2", 60
	var agentEnded atomic.Bool
	var got []string // Advances of a task do not overlap.
	script := &fleettest.Script{
		Decide: func(_ context.Context, m flow.Move) (flow.Position, error) {
			for _, a := range m.Answers {
				got = append(got, a.Question)
			}
			switch {
			case m.Stop != "":
				if !agentEnded.Load() {
					t.Error("the agent runs on while its task is stopped")
				}
				p := ended("stuck")
				p.Reason = m.Stop
				return p, nil
			case len(got) == answers:
				return ended("commit"), nil
			case m.Task == asked:
				return at(task.StepReview, ""), nil
			default:
				return at(task.StepDraft, task.RoleExecutor), nil
			}
		},
		Work: func(ctx context.Context, kind string, o flow.Order) (flow.Done, error) {
			if o.Task == asked {
				return flow.Done{Result: o.Digest}, nil
			}
			for ctx.Err() == nil {
				activity.RecordHeartbeat(ctx, flow.Progress{Run: "r1", Agent: "executor"})
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(300 * time.Millisecond) // The agent needs a moment to end.
			agentEnded.Store(true)
			return flow.Done{}, ctx.Err()
		},
	}
	server := fleettest.Server(t, "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=30")
	c := server.Client()
	script.Start(t, c)
	t.Run("stop waits for the agent", func(t *testing.T) {
		in := input()
		in.Task = stopped
		run := start(t, c, in)
		awaitIdle(t, c, run.GetID())
		if err := c.CancelWorkflow(t.Context(), run.GetID(), ""); err != nil {
			t.Fatal(err)
		}
		var p flow.Position
		if err := run.Get(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
		if p.NextAction != "stuck" || p.Reason != flow.Stopped {
			t.Errorf("it ended as %+v", p)
		}
	})

	t.Run("no answer is lost", func(t *testing.T) {
		in := input()
		in.Task = asked
		run := start(t, c, in)
		first := run.GetRunID() // Get follows the runs.
		var want []string
		for i := range answers {
			want = append(want, fmt.Sprint(i))
			if err := c.SignalWorkflow(t.Context(), run.GetID(), "", flow.SignalAnswer, flow.Answer{Question: want[i]}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // The workflow passes through several runs.
		}
		if err := run.Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the home was given %q", got)
		}
		if run.GetRunID() == first {
			t.Error("the workflow did not continue as new")
		}
	})
}
