package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// rehearsed is the task whose results others get, with their own id.
const rehearsed = "T00000"

// rehearsal has the results of a task's orders, by kind and round. They stand for workers,
// whose agents and git processes would take all of a small machine.
type rehearsal map[string]string

// newBenchSite is a project whose tasks are committed in the last of some rounds. Every
// round before has a new finding.
func newBenchSite(t testing.TB, rounds int) *site {
	t.Helper()
	agents := roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}}
	for i := range rounds - 1 {
		agents["critic"] = append(agents["critic"], fakeagent.Finds(fakeagent.Finding{
			Category: "missing-test", Severity: "fail", File: fmt.Sprintf("f%d.go", i), Line: 1, Remediation: fmt.Sprintf("Test case %d", i),
		}))
	}
	agents["critic"] = append(agents["critic"], fakeagent.Clean())
	return newSite(t, fmt.Sprintf("spawn: {retries: 0}\nmax_rounds: %d\n", rounds), agents)
}

// rehearse runs a task with real workers.
func rehearse(t testing.TB, s *site, rounds int) rehearsal {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	s.register(t, env)
	results := make(rehearsal)
	var order flow.Order
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		if info.ActivityType.Name != flow.Advance {
			if err := args.Get(&order); err != nil {
				t.Error(err)
			}
		}
	})
	env.SetOnActivityCompletedListener(func(info *activity.Info, result converter.EncodedValue, err error) {
		if info.ActivityType.Name == flow.Advance || err != nil {
			return
		}
		var done flow.Done
		if err := result.Get(&done); err != nil {
			t.Error(err)
		}
		r, err := orderstore.Get[host.OrderResult](context.Background(), s.store(t), done.Result)
		if err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Error(err)
		}
		results[key(info.ActivityType.Name, order)] = string(text)
	})
	in := s.request(t, api.RunRequest{Prompt: "Handle the empty list."})
	in.Task = rehearsed
	env.ExecuteWorkflow(flow.Workflow, in)
	var end flow.Position
	if err := env.GetWorkflowResult(&end); err != nil {
		t.Fatal(err)
	}
	if end.NextAction != "commit" || end.Round != rounds {
		t.Fatalf("the rehearsal ends with %+v (%+v), want a commit in round %d", end, end.Failure, rounds)
	}
	return results
}

func key(kind string, o flow.Order) string { return fmt.Sprintf("%s %d", kind, o.Round) }

// work carries out an order: it keeps the rehearsed result as one of the order's task.
func (r rehearsal) work(ctx context.Context, s store.Store, kind string, o flow.Order) (flow.Done, error) {
	text, ok := r[key(kind, o)]
	if !ok {
		return flow.Done{}, fmt.Errorf("no result was rehearsed for %s", key(kind, o))
	}
	var result host.OrderResult
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, rehearsed, o.Task)), &result); err != nil {
		return flow.Done{}, err
	}
	sum, err := orderstore.Put(ctx, s, result)
	return flow.Done{Result: sum, Draft: strings.Repeat("d", 40)}, err
}
