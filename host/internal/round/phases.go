package round

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// step carries out a command that needs nothing but the task's state.
func (e *Engine) apply(ctx context.Context, id string, c task.Command) (api.TaskResult, error) {
	status, event, err := e.update(ctx, id, func(*taskTx) (task.Command, event.Full, error) { return c, event.Full{}, nil })
	return api.TaskResult{TaskStatus: status, Recorded: event}, err
}

// maxQuery is how much of a query is kept, in bytes.
const maxQuery = 2000

// Start begins the work on a task; after a commit, or after it was stuck, it
// begins anew in the next round.
//
// # Errors
//
// task-started where the work goes on already, rounds-exhausted.
func (e *Engine) Start(ctx context.Context, id string, req api.StartRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	status, event, err := e.update(ctx, id, func(tx *taskTx) (task.Command, event.Full, error) {
		tx.baseRev = req.Base
		return task.StartWork{
			Query: cut(req.Query, maxQuery), MaxRounds: req.MaxRounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Force: req.Force,
		}, event.Full{}, nil
	})
	return api.TaskResult{TaskStatus: status, Recorded: event}, err
}

// Done records that a phase before the draft is done.
//
// # Errors
//
// evidence-missing where the phase's agents left too few stamps in this round.
func (e *Engine) Done(ctx context.Context, id string, req api.PhaseRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	required := 1
	if req.Phase == task.Research {
		required = config.Researchers
	}
	return e.apply(ctx, id, task.CompletePhase{Phase: req.Phase, Required: required, Tests: req.Tests, Force: req.Force})
}

// Commit commits a task whose review decided so.
//
// # Errors
//
// commit-precondition-missing; its detail missing lists what the round lacks.
func (e *Engine) Commit(ctx context.Context, id string, req api.CommitRequest) (api.TaskResult, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return api.TaskResult{}, err
	}
	status, event, err := e.update(ctx, id, func(tx *taskTx) (task.Command, event.Full, error) {
		return task.CommitTask{MustVerify: req.MustVerify || config.Verify != nil, Force: req.Force}, event.Full{}, tx.checkNotRunning(ctx)
	})
	return api.TaskResult{TaskStatus: status, Recorded: event}, err
}
