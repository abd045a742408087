package worker_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// TestInducedOnOtherWorkers tests that a review knows which findings the last fix induced,
// if another worker carried out the review before: each order has a worker of its own.
func TestInducedOnOtherWorkers(t *testing.T) {
	finds := func(lines ...int) fakeagent.Scenario {
		var all []fakeagent.Finding
		for _, line := range lines {
			all = append(all, fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "draft.txt", Line: line, Remediation: fmt.Sprint("Test line ", line)})
		}
		return fakeagent.Finds(all...)
	}
	s := newSite(t, "spawn: {retries: 0}\nmax_rounds: 5\n", roles{
		"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()},
		"critic": {finds(1), finds(1, 2), finds(2, 3), fakeagent.Clean()},
	})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	s.register(t, env)
	env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == flow.Advance {
			return
		}
		if err := os.Rename(s.path("worker"), t.TempDir()+"/worker"); err != nil {
			t.Error(err)
		}
	})
	env.ExecuteWorkflow(flow.Workflow, s.request(t, api.RunRequest{Prompt: prompt}))
	var end flow.Position
	if err := env.GetWorkflowResult(&end); err != nil || end.NextAction != "commit" {
		t.Fatalf("the workflow ends with %+v, %v", end, err)
	}
	for i, want := range []string{"", "1 false, 2 true, ", "2 false, 3 true, ", ""} {
		x, err := s.engine(t).Explain(t.Context(), "T", i+1)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range x.Decision.Findings {
			if f.Induced != nil {
				got += fmt.Sprintf("%d %t, ", *f.Line, *f.Induced)
			}
		}
		if count := x.Decision.InducedCount; got != want || (count == nil) != (i == 0) {
			t.Errorf("round %d: got %q, %v, want %q", i+1, got, count, want)
		}
	}
}
