package flow

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Values of Position.NextAction for tasks that end without a decision of their home.
const (
	ActionFailed  = "failed"
	ActionBlocked = "blocked"
)

// Stopped is the reason of a task that was stopped with `stop`.
const Stopped = "stopped"

// maxAdvances is the number of steps after which the workflow continues as new. A step adds
// about 20 events to its history, which a worker may have to read again from the beginning.
const maxAdvances = 60

// Task is the workflow of a task. Until the task ends, it alternates Advance, which decides at
// home, with an activity on a worker or a wait. Then it tells its dependents. Canceling the
// workflow stops the task.
func Task(ctx workflow.Context, in Input) (Position, error) {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	t := &tracker{in: in, detached: detached, answers: workflow.GetSignalChannel(ctx, SignalAnswer)}
	p, err := t.run(ctx)
	if err == nil {
		t.show(t.detached, p)
		t.tellDependents(p.NextAction)
	}
	return p, err
}

// tracker follows one run of the workflow.
type tracker struct {
	// in is the input of the next run: with dependents, answers and the last result.
	in Input
	// detached is a context that outlives the cancellation of the workflow.
	detached workflow.Context
	answers  workflow.ReceiveChannel
	// draft is the commit at the ref of the draft, or "" if it is not known.
	draft string
	// shown is the position in the memo.
	shown Position
}

// run returns the last position of the task, or the error that continues the workflow as new.
func (t *tracker) run(ctx workflow.Context) (Position, error) {
	if why := t.awaitDependencies(ctx); why != "" {
		return Position{NextAction: ActionBlocked, Reason: why}, nil
	}
	for advances := 0; ; advances++ {
		// A cancellation would be lost with this run.
		if stopped := ctx.Err() != nil; !stopped && advances > 0 &&
			(advances == maxAdvances || workflow.GetInfo(ctx).GetContinueAsNewSuggested()) {
			t.receiveAnswers()
			t.receiveDependents()
			return Position{}, workflow.NewContinueAsNewError(ctx, Task, t.in)
		}
		p, failure := t.advance(ctx.Err() != nil)
		switch {
		case failure != nil:
			return failAt(t.shown, failure), nil
		case p.NextAction != "":
			return p, nil
		}
		t.show(ctx, p)
		if failure := t.step(ctx, p); failure != nil {
			return failAt(t.shown, failure), nil
		}
	}
}

// The timeouts of Advance. A task's first push may take minutes; the death of a home is detected
// by missing heartbeats.
const (
	homeHeartbeat  = 10 * time.Second
	advanceTimeout = 15 * time.Minute
)

// advance lets the home decide. A cancellation of the workflow does not interrupt it, because
// the workflow must know the home's records.
func (t *tracker) advance(stop bool) (Position, *Failure) {
	move := Move{Task: t.in.Task, Request: t.in.Request, Result: t.in.Result, Draft: t.draft, Answers: t.takeAnswers()}
	if stop {
		move.Stop = Stopped
	}
	ctx := workflow.WithActivityOptions(t.detached, workflow.ActivityOptions{
		TaskQueue:           HomeQueue(t.in.Project),
		StartToCloseTimeout: advanceTimeout,
		HeartbeatTimeout:    homeHeartbeat,
		RetryPolicy:         &temporal.RetryPolicy{MaximumInterval: 10 * time.Second},
	})
	var p Position
	if err := workflow.ExecuteActivity(ctx, Advance, move).Get(ctx, &p); err != nil {
		return Position{}, failureOf(err)
	}
	t.in.Result = ""
	if stop && p.NextAction == "" { // The next step must not be taken.
		p.NextAction, p.Reason = string(task.StepStuck), Stopped
	}
	return p, nil
}

// step takes the step of a position, or waits. If the workflow is canceled, it returns
// once the activity has ended.
func (t *tracker) step(ctx workflow.Context, p Position) *Failure {
	switch p.Step.Kind {
	case task.StepDraft:
		return t.carryOut(ctx, Draft, p)
	case task.StepReview:
		return t.carryOut(ctx, Review, p)
	case task.StepAssist:
		if p.Step.Role == task.RoleResearcher {
			return t.carryOut(ctx, Research, p)
		}
		return t.carryOut(ctx, Assist, p)
	case task.StepCommit:
		return t.carryOut(ctx, Commit, p)
	case task.StepAsk:
		if t.receiveAnswers(); len(t.in.Answers) == 0 {
			wait(ctx, p.Until, t.answers)
		}
	case task.StepPark:
		wait(ctx, p.Until, nil)
	default:
		return &Failure{Code: errs.Internal, Message: fmt.Sprintf("the home gave the step %q, which no worker can take", p.Step.Kind)}
	}
	return nil
}

// The timeouts of orders. An agent may take hours; the death of a worker is detected by
// missing heartbeats.
const (
	defaultHeartbeat = 30 * time.Second
	orderTimeout     = 24 * time.Hour
)

// carryOut runs the activity of a worker and stores its result for the next Advance. The
// activity is repeated until it succeeds or fails permanently.
func (t *tracker) carryOut(ctx workflow.Context, activity string, p Position) *Failure {
	orders := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           p.Queue,
		StartToCloseTimeout: orderTimeout,
		HeartbeatTimeout:    cmp.Or(t.in.Heartbeat, defaultHeartbeat),
		WaitForCancellation: true, // Its agent must end before the task is stopped.
		RetryPolicy:         &temporal.RetryPolicy{MaximumInterval: time.Minute},
	})
	order := Order{Project: t.in.Project, Task: t.in.Task, Round: p.Round, Digest: p.Order}
	var done Done
	err := workflow.ExecuteActivity(orders, activity, order).Get(orders, &done)
	if err != nil && ctx.Err() == nil {
		return failureOf(err)
	}
	t.in.Result, t.draft = done.Result, done.Draft
	return nil
}

// minWait is the minimum of a wait, so that a home with a slow clock does not get requests
// continuously.
const minWait = 5 * time.Second

// wait waits until the given time, until a signal is in the channel, which may be nil, or until
// the workflow is canceled.
func wait(ctx workflow.Context, until string, signals workflow.ReceiveChannel) {
	timer, cancel := workflow.WithCancel(ctx)
	defer cancel()
	ignore := func(workflow.ReceiveChannel, bool) {}
	s := workflow.NewSelector(ctx).AddReceive(ctx.Done(), ignore)
	if at, err := time.Parse(time.RFC3339, until); err == nil {
		left := max(at.Sub(workflow.Now(ctx)), minWait)
		s.AddFuture(workflow.NewTimer(timer, left), func(workflow.Future) {})
	}
	if signals != nil {
		s.AddReceive(signals, ignore)
	}
	s.Select(ctx)
}
