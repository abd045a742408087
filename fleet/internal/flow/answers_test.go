package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestNoAnswerIsLost signals answers at any moment of a task that passes through several
// runs of the workflow: the home is given each once, in the order of the signals.
func TestNoAnswerIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]task.StepKind{task.StepDraft, task.StepReview, task.StepPark, task.StepAsk}), 0, 40).Draw(t, "steps")
		steps = append(steps, task.StepPark) // It passes 5 seconds in each run.
		delays := rapid.SliceOfN(rapid.IntRange(1, 4900), 0, 12).Draw(t, "delays")
		sizes := rapid.SliceOfN(rapid.IntRange(0, flow.MaxAnswer), len(delays), len(delays)).Draw(t, "sizes")

		var sent, got []string
		moves := 0
		script := &fleettest.Script{Decide: func(_ context.Context, m flow.Move) (flow.Position, error) {
			size := 0
			for _, a := range m.Answers {
				got = append(got, a.Question)
				size += len(a.Text)
			}
			if size > flow.MaxAnswer {
				t.Errorf("an Advance has %d bytes of answers", size)
			}
			moves++
			if moves > len(steps) && len(got) == len(delays) {
				return ended("commit"), nil
			}
			p := at(steps[(moves-1)%len(steps)], "")
			p.Until = "2000-01-01T00:00:00Z" // It waits for the minimum.
			return p, nil
		}}
		for in, over, runs := input(), false, 0; !over; runs++ {
			if runs > 100 {
				t.Fatalf("%d runs, %d of %d answers", runs, len(got), len(delays))
			}
			env := environment(script)
			for i, delay := range delays {
				a := flow.Answer{Question: fmt.Sprint(i), Text: strings.Repeat("x", sizes[i])}
				if slices.Contains(sent, a.Question) {
					continue
				}
				env.RegisterDelayedCallback(func() {
					env.SignalWorkflow(flow.SignalAnswer, a)
					sent = append(sent, a.Question)
				}, time.Duration(delay)*time.Millisecond)
			}
			env.ExecuteWorkflow(flow.Workflow, in)
			again, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
			if over = !ok; ok {
				in = flow.Input{}
				if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &in); err != nil {
					t.Fatal(err)
				}
			} else if env.GetWorkflowError() != nil {
				t.Fatal(env.GetWorkflowError())
			}
		}
		if len(sent) != len(delays) || !slices.Equal(got, sent) {
			t.Errorf("the home was given the answers %q of %q", got, sent)
		}
	})
}

// TestForgedAnswers signals more and longer answers than the commands send. A history must
// not have them again, in the input of an activity or of the next run.
func TestForgedAnswers(t *testing.T) {
	const mega = 1 << 20
	for name, forged := range map[string][]flow.Answer{
		"a long text":        {{Question: "q", Text: strings.Repeat("x", mega)}},
		"a long fingerprint": {{Question: strings.Repeat("q", mega), Text: "yes"}},
		"a long name":        {{Question: "q", Choice: 1, By: strings.Repeat("n", mega)}},
		"many":               slices.Repeat([]flow.Answer{{Question: "q", Text: strings.Repeat("x", flow.MaxAnswer)}}, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			script := &fleettest.Script{Positions: []flow.Position{at(task.StepReview, "")}}
			env := environment(script)
			env.SetContinueAsNewSuggested(true)
			script.Work = func(context.Context, string, flow.Order) (flow.Done, error) {
				for _, answer := range forged {
					env.SignalWorkflow(flow.SignalAnswer, answer)
				}
				return flow.Done{Result: "sha256:done"}, nil
			}
			env.ExecuteWorkflow(flow.Workflow, input())
			again, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
			if !ok {
				t.Fatalf("it ended with %v", env.GetWorkflowError())
			}
			if n := len(again.Input.GetPayloads()[0].GetData()); n >= mega {
				t.Errorf("it continues with %d bytes", n)
			}
		})
	}
}

// TestCarriesOver continues as new with all that the next run needs.
func TestCarriesOver(t *testing.T) {
	script := &fleettest.Script{Positions: []flow.Position{at(task.StepReview, "")}}
	env := environment(script)
	env.SetContinueAsNewSuggested(true)
	script.Work = func(context.Context, string, flow.Order) (flow.Done, error) {
		env.SignalWorkflow(flow.SignalAnswer, flow.Answer{Question: "q", Choice: 1})
		env.SignalWorkflow(flow.SignalDependents, []string{"SHOP-2"})
		return flow.Done{Result: "sha256:done"}, nil
	}
	in := input()
	in.Heartbeat = time.Minute
	env.ExecuteWorkflow(flow.Workflow, in)
	again, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
	if !ok {
		t.Fatalf("it ended with %v", env.GetWorkflowError())
	}
	var next flow.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(again.Input, &next); err != nil {
		t.Fatal(err)
	}
	if next.Project != in.Project || next.Task != in.Task || next.Request != in.Request || next.Heartbeat != in.Heartbeat ||
		next.Result != "sha256:done" || len(next.Answers) != 1 || !slices.Equal(next.Dependents, []string{"SHOP-2"}) {
		t.Errorf("it continues with %+v", next)
	}
}
