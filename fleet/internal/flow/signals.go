package flow

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// The limits of waiting answers: their number, and the size of each in bytes. A workflow with
// too large an input could not continue.
const (
	maxAnswers    = 64
	maxAnswerSize = MaxAnswer + 1<<10
)

// receiveAnswers adds the answers that have arrived to the waiting ones. It drops answers that
// are larger than a command sends.
func (t *tracker) receiveAnswers() {
	for {
		var a Answer
		if !t.answers.ReceiveAsync(&a) {
			return
		}
		if len(a.Question)+len(a.Text)+len(a.By) <= maxAnswerSize && len(t.in.Answers) < maxAnswers {
			t.in.Answers = append(t.in.Answers, a)
		}
	}
}

// takeAnswers removes the answers for the next Advance: the oldest ones, as many as fit into
// one payload.
func (t *tracker) takeAnswers() []Answer {
	t.receiveAnswers()
	n, size := 0, 0
	for n < len(t.in.Answers) {
		if size += len(t.in.Answers[n].Text); n > 0 && size > MaxAnswer {
			break
		}
		n++
	}
	taken := t.in.Answers[:n]
	t.in.Answers = t.in.Answers[n:]
	return taken
}

// receiveDependents adds the dependents that have arrived.
func (t *tracker) receiveDependents() {
	for {
		var ids []string
		if !workflow.GetSignalChannel(t.detached, SignalDependents).ReceiveAsync(&ids) {
			return
		}
		t.in.Dependents = append(t.in.Dependents, ids...)
	}
}

// awaitDependencies waits until all dependencies are committed. It returns "", or the reason
// why the task cannot begin.
func (t *tracker) awaitDependencies(ctx workflow.Context) (why string) {
	ended := workflow.GetSignalChannel(ctx, SignalDependency)
	for len(t.in.DependsOn) > 0 {
		var d Dependency
		if !ended.ReceiveAsync(&d) {
			if wait(ctx, "", ended); ctx.Err() != nil {
				return Stopped
			}
			continue
		}
		switch {
		case !slices.Contains(t.in.DependsOn, d.Task): // It is not a dependency, or the signal is repeated.
		case d.NextAction != string(task.StepCommit):
			return d.Task + " is not committed"
		default:
			t.in.DependsOn = slices.DeleteFunc(t.in.DependsOn, func(id string) bool { return id == d.Task })
		}
	}
	return ""
}

// tellDependents tells the dependents how the task ended. It ignores dependents that do not
// exist or have ended.
func (t *tracker) tellDependents(nextAction string) {
	for t.receiveDependents(); len(t.in.Dependents) > 0; t.receiveDependents() {
		var sent []workflow.Future
		for _, id := range t.in.Dependents {
			sent = append(sent, workflow.SignalExternalWorkflow(t.detached, WorkflowID(t.in.Project, id), "", SignalDependency,
				Dependency{Task: t.in.Task, NextAction: nextAction}))
		}
		t.in.Dependents = nil
		for _, f := range sent {
			if err := f.Get(t.detached, nil); err != nil {
				workflow.GetLogger(t.detached).Debug("A dependent is gone.", "error", err)
			}
		}
	}
}
