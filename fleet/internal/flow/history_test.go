package flow_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// shape is a kind of history.
type shape struct {
	positions []flow.Position
	in        flow.Input
	// work carries out the orders, nil for at once.
	work func(context.Context, string, flow.Order) (flow.Done, error)
	// then happens once the workflow waits.
	then func(context.Context, client.Client, string) error
}

func shapes() map[string]shape {
	draft, review, commit := at(task.StepDraft, task.RoleExecutor), at(task.StepReview, ""), at(task.StepCommit, "")
	ask, park := at(task.StepAsk, ""), at(task.StepPark, "")
	ask.Status, ask.Question = task.Waiting, &flow.Question{Fingerprint: "51441088a31719cd", Text: "Which port shall it be?", Choices: []string{"80", "443"}}
	ask.Until, park.Until = "2100-01-01T00:00:00Z", "2000-01-01T00:00:00Z"
	park.Status = task.Parked
	signal := func(name string, arg any) func(context.Context, client.Client, string) error {
		return func(ctx context.Context, c client.Client, id string) error {
			return c.SignalWorkflow(ctx, id, "", name, arg)
		}
	}
	long := []flow.Position{draft}
	for range 12 {
		long = append(long, review)
	}
	return map[string]shape{
		"plain":    {positions: []flow.Position{draft, review, commit, ended("commit")}},
		"question": {positions: []flow.Position{draft, review, ask, draft, ended("commit")}, then: signal(flow.SignalAnswer, flow.Answer{Question: "51441088a31719cd", Choice: 2, By: "alice"})},
		"parked":   {positions: []flow.Position{draft, park, draft, ended("commit")}},
		"stuck":    {positions: []flow.Position{draft, review, ended("stuck")}},
		"cancelled": {
			positions: []flow.Position{draft, ended("stuck")},
			work: func(ctx context.Context, _ string, _ flow.Order) (flow.Done, error) {
				for ctx.Err() == nil {
					activity.RecordHeartbeat(ctx, flow.Progress{Run: "r1", Agent: "executor"})
					time.Sleep(10 * time.Millisecond)
				}
				return flow.Done{}, ctx.Err()
			},
			then: func(ctx context.Context, c client.Client, id string) error { return c.CancelWorkflow(ctx, id, "") },
		},
		"continued": {positions: append(long, ended("commit"))},
		"dependency": {
			positions: []flow.Position{draft, ended("commit")},
			in:        flow.Input{DependsOn: []string{"SHOP-0"}, Dependents: []string{"SHOP-2"}},
			then:      signal(flow.SignalDependency, flow.Dependency{Task: "SHOP-0", NextAction: "commit"}),
		},
		"failed": {
			positions: []flow.Position{draft},
			work: func(context.Context, string, flow.Order) (flow.Done, error) {
				return flow.Done{}, flow.Final(errs.New(errs.GitFailed, "the remote is gone"))
			},
		},
	}
}

const histories = "testdata/histories"

// TestHistories replays a history of each shape with the workflow as it is. A change that
// fails here would break running tasks. UPDATE=1 records the histories anew, which is right
// only if no task of an older version runs any more.
func TestHistories(t *testing.T) {
	if os.Getenv("UPDATE") != "" {
		record(t)
	}
	replayer := newReplayer(t, flow.Task)
	files, err := filepath.Glob(histories + "/*.json")
	if err != nil || len(files) != len(shapes()) {
		t.Fatalf("%d histories of %d shapes: %v", len(files), len(shapes()), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if _, ok := shapes()[name]; !ok {
			t.Errorf("%s is the history of no shape", file)
		}
		if err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet(), file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestChangedWorkflowIsRefused replays a history with a workflow that begins with another
// step.
func TestChangedWorkflowIsRefused(t *testing.T) {
	replayer := newReplayer(t, func(ctx workflow.Context, in flow.Input) (flow.Position, error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{TaskQueue: fleettest.Queue, StartToCloseTimeout: time.Hour})
		err := workflow.ExecuteActivity(ctx, flow.Review, flow.Order{Task: in.Task}).Get(ctx, nil)
		return flow.Position{}, err
	})
	err := replayer.ReplayWorkflowHistoryFromJSONFile(quiet(), histories+"/plain.json")
	if err == nil || !strings.Contains(err.Error(), "TMPRL1100") {
		t.Errorf("it was replayed: %v", err)
	}
}

func newReplayer(t *testing.T, w any) worker.WorkflowReplayer {
	t.Helper()
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	replayer.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: flow.Workflow})
	return replayer
}

// record writes a history of each shape.
func record(t *testing.T) {
	t.Helper()
	server := fleettest.Server(t, "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=70")
	c := server.Client()
	host, err := os.Hostname()
	if err == nil {
		err = os.MkdirAll(histories, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, shape := range shapes() {
		t.Run("record "+name, func(t *testing.T) {
			script := &fleettest.Script{Positions: shape.positions, Work: shape.work}
			script.Start(t, c)
			in := input()
			in.DependsOn, in.Dependents = shape.in.DependsOn, shape.in.Dependents
			run := start(t, c, in)
			id, runID := run.GetID(), run.GetRunID()
			if shape.then != nil {
				awaitIdle(t, c, id)
				if err := shape.then(t.Context(), c, id); err != nil {
					t.Fatal(err)
				}
			}
			var p flow.Position
			if err := run.Get(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
			history := &historypb.History{}
			for events := c.GetWorkflowHistory(t.Context(), id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
				e, err := events.Next()
				if err != nil {
					t.Fatal(err)
				}
				history.Events = append(history.Events, e)
			}
			text, err := protojson.MarshalOptions{Indent: " "}.Marshal(history)
			if err == nil {
				text = bytes.ReplaceAll(append(text, '\n'), []byte(`"`+host+":"), []byte(`"worker:`)) // Queues of workers have its name.
				err = os.WriteFile(filepath.Join(histories, name+".json"), text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// awaitIdle waits until a workflow only waits: for a signal, a timer or an activity that
// has begun.
func awaitIdle(t *testing.T, c client.Client, id string) {
	t.Helper()
	for {
		d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		idle := d.PendingWorkflowTask == nil && d.WorkflowExecutionInfo.HistoryLength > 3
		for _, a := range d.PendingActivities {
			idle = idle && a.ActivityType.Name != flow.Advance && len(a.GetHeartbeatDetails().GetPayloads()) > 0
		}
		if idle {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(errors.New("the test has ended"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
