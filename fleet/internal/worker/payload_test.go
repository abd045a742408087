package worker_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// maxPayload is the limit of ADR-0023 for a payload in a history, in bytes.
const maxPayload = 32 << 10

// payloads fails a test that gives a history more than it may have.
type payloads struct {
	converter.DataConverter
	t *testing.T
	// asked is set once the question was seen.
	asked bool
}

func (p *payloads) ToPayload(value any) (*commonpb.Payload, error) {
	made, err := p.DataConverter.ToPayload(value)
	p.check(made)
	return made, err
}

func (p *payloads) ToPayloads(values ...any) (*commonpb.Payloads, error) {
	made, err := p.DataConverter.ToPayloads(values...)
	for _, one := range made.GetPayloads() {
		p.check(one)
	}
	return made, err
}

func (p *payloads) check(one *commonpb.Payload) {
	p.asked = p.asked || bytes.Contains(one.GetData(), []byte(`"Question":{`))
	if n := len(one.GetData()); n >= maxPayload {
		p.t.Errorf("a payload has %d bytes: %.300s", n, one.GetData())
	}
}

// TestPayloads tests that a task with the longest prompt, many findings and a long question
// leaves only short texts in its history.
func TestPayloads(t *testing.T) {
	long := strings.Repeat("Say <why> & \"how\". ", 300)
	var many []fakeagent.Finding
	for i := range 200 {
		many = append(many, fakeagent.Finding{
			Category: "missing-test", Severity: "fail", File: fmt.Sprintf("%s/f%d.go", strings.Repeat("d", 200), i), Line: 1, Remediation: fmt.Sprint(i, long),
		})
	}
	ask := fakeagent.Finding{Category: "question-to-user", Severity: "fail", File: "a.go", Line: 1, Remediation: long}
	s := newSite(t, "spawn: {retries: 0}\n", roles{
		"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()},
		"critic": {fakeagent.Finds(many...), fakeagent.Finds(append(many, ask)...), fakeagent.Clean()},
	})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	seen := &payloads{DataConverter: converter.GetDefaultDataConverter(), t: t}
	env.SetDataConverter(seen)
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	s.register(t, env)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour) // Time passes while it waits for an answer.
	env.ExecuteWorkflow(flow.Workflow, s.request(t, api.RunRequest{Prompt: strings.Repeat("p", task.MaxPrompt)}))
	var end flow.Position
	if err := env.GetWorkflowResult(&end); err != nil {
		t.Fatal(err)
	}
	if !seen.asked || end.Reason != flow.Stopped {
		t.Errorf("the task ends with %+v, and asked: %t", end, seen.asked)
	}
}
