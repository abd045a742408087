package flow

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// The limits of the answers that wait: their number, and the size of one in bytes. A
// workflow whose input is too large could not continue.
const (
	maxAnswers    = 64
	maxAnswerSize = MaxAnswer + 1<<10
)

// receiveAnswers adds the answers that have arrived to those that wait. It drops what no
// command sends.
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

// takeAnswers returns the answers for the next Advance: as many as one payload may have,
// in the order of their arrival.
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

// receiveDependents adds the dependents that have arrived to those to tell.
func (t *tracker) receiveDependents() {
	for {
		var ids []string
		if !workflow.GetSignalChannel(t.detached, SignalDependents).ReceiveAsync(&ids) {
			return
		}
		t.in.Dependents = append(t.in.Dependents, ids...)
	}
}

// awaitDependencies waits until all dependencies are committed, and returns "", or why the
// task cannot begin.
func (t *tracker) awaitDependencies(ctx workflow.Context) (why string) {
	ended := workflow.GetSignalChannel(ctx, SignalDependency)
	for len(t.in.DependsOn) > 0 {
		var d Dependency
		if !ended.ReceiveAsync(&d) {
			if t.wait(ctx, "", ended); ctx.Err() != nil {
				return Stopped
			}
			continue
		}
		switch {
		case !slices.Contains(t.in.DependsOn, d.Task): // A task that this one does not depend on, or a repeated signal.
		case d.NextAction != string(task.StepCommit):
			return d.Task + " is not committed"
		default:
			t.in.DependsOn = slices.DeleteFunc(t.in.DependsOn, func(id string) bool { return id == d.Task })
		}
	}
	return ""
}

// tellDependents tells the tasks that depend on this one how it ended. One that does not
// exist or has ended needs not to know.
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
