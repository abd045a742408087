package host

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Step is what a command left of a task.
type Step struct {
	TaskStatus
	// Recorded is the event, or nil where there was nothing to do.
	Recorded *Event `json:"recorded"`
}

// step carries out a command that needs nothing but the task's state.
func (e *Engine) step(ctx context.Context, id string, c task.Command) (Step, error) {
	status, event, err := e.change(ctx, id, func(*session) (task.Command, record, error) { return c, record{}, nil })
	return Step{TaskStatus: status, Recorded: event}, err
}

// StartRequest is how the work on a task begins.
type StartRequest struct {
	// Query says what the work is about.
	Query string
	// MaxRounds is the task's cap, 0 for the project's.
	MaxRounds int
	// Base names the commit that the draft is compared with, "" for the one at which
	// the work begins.
	Base  string
	Force *task.Force
}

// maxQuery is how much of a query is kept, in bytes.
const maxQuery = 2000

// Start begins the work on a task; after a commit, or after it was stuck, it
// begins anew in the next round.
//
// # Errors
//
// task-started where the work goes on already, rounds-exhausted.
func (e *Engine) Start(ctx context.Context, id string, req StartRequest) (Step, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, record, error) {
		s.rev = req.Base
		return task.Begin{
			Query: cut(req.Query, maxQuery), MaxRounds: req.MaxRounds, Fallback: cmp.Or(config.MaxRounds, task.DefaultRounds), Force: req.Force,
		}, record{}, nil
	})
	return Step{TaskStatus: status, Recorded: event}, err
}

// PhaseRequest says that a phase before the draft is done.
type PhaseRequest struct {
	// Phase is task.Research, task.Design or task.Tests.
	Phase task.Phase
	// Tests are the files that the phase Tests wrote.
	Tests []string
	Force *task.Force
}

// Done records that a phase before the draft is done.
//
// # Errors
//
// evidence-missing where the phase's agents left too few stamps in this round.
func (e *Engine) Done(ctx context.Context, id string, req PhaseRequest) (Step, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	required := 1
	if req.Phase == task.Research {
		required = config.Researchers
	}
	return e.step(ctx, id, task.Prepare{Phase: req.Phase, Required: required, Tests: req.Tests, Force: req.Force})
}

// CommitRequest asks for the commit that the newest review allowed.
type CommitRequest struct {
	// MustVerify wants a green verification of the round, also where the
	// project has none and the task was never verified.
	MustVerify bool
	Force      *task.Force
}

// Commit commits a task whose review decided so.
//
// # Errors
//
// commit-precondition-missing; its detail missing lists what the round lacks.
func (e *Engine) Commit(ctx context.Context, id string, req CommitRequest) (Step, error) {
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	config, err := e.Config(ctx)
	if err != nil {
		return Step{}, err
	}
	status, event, err := e.change(ctx, id, func(s *session) (task.Command, record, error) {
		return task.Finish{MustVerify: req.MustVerify || config.Verify != nil, Force: req.Force}, record{}, s.undisturbed(ctx)
	})
	return Step{TaskStatus: status, Recorded: event}, err
}
