// Package tasktx implements the transaction of one command on one task: it applies commands
// to the task's state, and records their events at once, together with the policy that
// decided.
package tasktx

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Tx is the transaction of one command on one task. It is not safe for concurrent use.
type Tx struct {
	Project *core.Project
	// Task has the task's status with the pending events applied.
	record.Task
	// Policy is the policy that made the pending decision, nil if no decision is pending.
	Policy *policyset.Selection
	// BaseRev is the draft's base as the caller names it, or "". BaseCommit is the commit that
	// the command compares the draft with, "" if it has not compared it yet.
	BaseRev, BaseCommit string
	// Prompt is the caller's description of the task, or "".
	Prompt string
	// pending are the events to record before the command's own, in the same transaction,
	// such as expired answers.
	pending []event.Full
}

// TaskPrompt returns the caller's or the recorded description of the task.
func (tx *Tx) TaskPrompt() string { return cmp.Or(tx.Prompt, tx.Status.Prompt) }

// Tree returns the path of the task's working tree: its own worktree, or the checkout.
func (tx *Tx) Tree() string {
	if b := tx.Status.Branch; b != nil {
		return b.Worktree
	}
	return tx.Project.Root
}

// Open opens a task and begins a command on it. The caller must close the result.
//
// # Errors
//
// task-invalid-id, and errors of the ledger. The task need not exist.
func Open(ctx context.Context, p *core.Project, id string) (*Tx, error) {
	r, err := p.OpenTask(ctx, id)
	if err != nil {
		return nil, err
	}
	tx := &Tx{Project: p, Task: *r}
	if err := tx.Begin(ctx); err != nil {
		tx.Close()
		return nil, err
	}
	return tx, nil
}

// Begin begins a command on the current task. Default answers and ends of usage limits that
// have become due precede the command's own event, in the same transaction.
func (tx *Tx) Begin(ctx context.Context) error {
	if err := tx.reload(ctx); err != nil {
		return err
	}
	now := tx.Project.Now().UTC().Format(ledger.TimeFormat) // The state machine compares the strings.
	return cmp.Or(
		tx.Apply(task.ExpireQuestions{Now: now}, event.Full{By: task.BySwitchyard}),
		tx.Apply(task.EndParking{Now: now}, event.Full{By: task.BySwitchyard}),
	)
}

// EndsParking reports whether the end of a usage limit precedes the command.
func (tx *Tx) EndsParking() bool { return tx.isPending(task.KindUnparked) }

func (tx *Tx) isPending(k task.Kind) bool {
	return slices.ContainsFunc(tx.pending, func(r event.Full) bool { return r.Event.Kind() == k })
}

// reload reads the task's status and drops the pending events.
func (tx *Tx) reload(ctx context.Context) error {
	if err := tx.Load(ctx); err != nil {
		return err
	}
	tx.pending = nil
	if b := tx.Status.Branch; b != nil && tx.Project.Worktree != "" {
		here := *b
		here.Worktree = tx.Project.Worktree
		tx.Status.Branch = &here
	}
	return nil
}

// Apply decides a command and adds its event, if any, to the pending ones.
func (tx *Tx) Apply(c task.Command, r event.Full) error {
	change, err := task.Decide(tx.Status.State, c)
	if err != nil || change == nil {
		return tx.WithTaskID(err)
	}
	return tx.Add(change, r)
}

// Add appends a pending event. The transaction folds the event again from its recorded
// bytes, as Verify does: a value that JSON cannot represent exactly, such as invalid
// UTF-8, would otherwise give another state.
func (tx *Tx) Add(change task.Event, r event.Full) error {
	next, err := task.Apply(tx.Status.State, change)
	if err != nil {
		return err
	}
	r.Event = change
	tx.Status.State = next
	tx.pending = append(tx.pending, r)
	return nil
}

// Commit records the pending events in one transaction and returns the position of the
// last one, or nil if there are none. Once the events are known to fit into the ledger, it
// calls before, which may be nil.
func (tx *Tx) Commit(ctx context.Context, before func() error) (*api.EventRef, error) {
	if len(tx.pending) == 0 {
		return nil, nil
	}
	base := ""
	// Another command may have recorded another base since this one has used its own.
	if tx.Status.Status != task.NoTask && (tx.BaseRev != "" || tx.BaseCommit != "" || tx.isStart()) {
		var err error
		switch base, err = tx.Base(ctx); {
		case errs.CodeOf(err) == errs.TreeUnreadable && tx.BaseRev == "":
			tx.Project.Warn(err) // A task that needs no diff also works without a repository.
		case err != nil:
			return nil, err
		}
	}
	drafts := make([]ledger.NewEvent, len(tx.pending))
	for i, r := range tx.pending {
		if r.By == "" {
			r.By = tx.Project.By
		}
		if i == 0 && tx.Head.N != 0 {
			r.Before = digest.Of(tx.Head.State)
		}
		if i == 0 && base != tx.Status.Base {
			r.Base = base
		}
		if i == 0 && tx.Prompt != tx.Status.Prompt {
			r.Prompt = tx.Prompt
		}
		body, err := r.Encode()
		if err != nil {
			return nil, err
		}
		if len(body) > ledger.MaxBody {
			return nil, errs.New(errs.DecisionTooLarge, "the event has %d bytes; the ledger takes %d", len(body), ledger.MaxBody).With("limit", ledger.MaxBody)
		}
		drafts[i] = ledger.NewEvent{Kind: string(r.Event.Kind()), Body: body}
	}
	if before != nil {
		if err := before(); err != nil {
			return nil, err
		}
	}
	last, err := tx.append(ctx, ledger.Batch{Task: tx.ID, After: tx.Head.N, Events: drafts})
	if err != nil {
		return nil, err
	}
	tx.pending, tx.Policy, tx.Status.Event, tx.Status.UpdatedAt = nil, nil, last.N, last.At
	tx.Status.Base, tx.Status.Prompt = cmp.Or(base, tx.Status.Base), tx.TaskPrompt()
	// A killed command may have left an outdated section in STATE.md.
	if tx.Status.Status == task.Stuck || tx.Status.Status != task.NoTask && tx.Project.AtRoot().Exists(project.StateMDFile) {
		tx.writeStateMD(ctx)
	}
	return &api.EventRef{N: last.N, Hash: last.Hash}, nil
}

// append records a batch of a task's events, with the policy that decided it if the ledger
// does not have that policy yet, and returns the last event.
func (tx *Tx) append(ctx context.Context, batch ledger.Batch) (ledger.Event, error) {
	for {
		batches := []ledger.Batch{batch}
		if tx.Policy != nil {
			about, err := tx.Project.Policies().Events(ctx, tx.Ledger, *tx.Policy)
			if err != nil {
				return ledger.Event{}, err
			}
			// Even an empty batch detects that another policy was adopted meanwhile.
			batches = []ledger.Batch{about, batch}
		}
		events, err := tx.Project.Append(ctx, tx.Ledger, batches...)
		if err == nil {
			return events[len(events)-1], nil
		}
		// Commands on other tasks may record the same policy first.
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.Code != errs.LedgerConflict || f.Details["task"] != policyset.Chain {
			return ledger.Event{}, err
		}
		if *tx.Policy, err = tx.Project.Policies().Recheck(ctx, tx.Ledger, *tx.Policy); err != nil {
			return ledger.Event{}, err
		}
	}
}

// Command returns the command for the current task and the data to record with its event.
type Command func(tx *Tx) (task.Command, event.Full, error)

// Update runs a command on a task.
func Update(ctx context.Context, p *core.Project, id string, c Command) (api.TaskResult, error) {
	tx, err := Open(ctx, p, id)
	if err != nil {
		return api.TaskResult{}, err
	}
	defer tx.Close()
	return tx.Update(ctx, c)
}

// Apply runs a command that needs only the task's state.
func Apply(ctx context.Context, p *core.Project, id string, c task.Command) (api.TaskResult, error) {
	return Update(ctx, p, id, func(*Tx) (task.Command, event.Full, error) { return c, event.Full{}, nil })
}

// Update runs a command. If another process changes the task meanwhile, the command is
// decided again, as long as the task is in the same round.
func (tx *Tx) Update(ctx context.Context, c Command) (api.TaskResult, error) {
	round := max(tx.Status.Round, 1)
	at, err := tx.Write(ctx, func() error {
		if max(tx.Status.Round, 1) != round {
			return ErrLostRace(round, tx.Status.State)
		}
		command, r, err := c(tx)
		if err == nil {
			err = tx.Apply(command, r)
		}
		tx.RefreshStateMD(ctx, err)
		return err
	})
	if err != nil {
		return api.TaskResult{}, err
	}
	return api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: at}, nil
}

// Write calls f to apply commands to the current task, and records their events. If another process
// appends first, it calls f again.
func (tx *Tx) Write(ctx context.Context, f func() error) (*api.EventRef, error) {
	for {
		if err := f(); err != nil {
			return nil, err
		}
		at, err := tx.Commit(ctx, nil)
		if errs.CodeOf(err) != errs.LedgerConflict {
			return at, err
		}
		if err := tx.Begin(ctx); err != nil {
			return nil, err
		}
	}
}

// Record records a command of Switchyard itself.
func (tx *Tx) Record(ctx context.Context, c task.Command) error {
	_, err := tx.Update(ctx, func(*Tx) (task.Command, event.Full, error) { return c, event.Full{By: task.BySwitchyard}, nil })
	return err
}

// ErrLostRace returns the error of a command that another process preceded. The round is
// the same if that process did not advance it.
func ErrLostRace(round int, now task.State) error {
	return errs.New(errs.RoundShifted, "another command was first in round %d; the task is %s, in round %d", round, now.Status, now.Round).
		With("expected", round).With("actual", now.Round)
}

// MapConflict replaces a ledger conflict by the error of a lost race.
func (tx *Tx) MapConflict(ctx context.Context, round int, err error) error {
	if errs.CodeOf(err) != errs.LedgerConflict {
		return err
	}
	if tx.reload(ctx) != nil {
		return err
	}
	return ErrLostRace(round, tx.Status.State)
}

// WithTaskID adds the task's id to an error.
func (tx *Tx) WithTaskID(err error) error {
	if errs.CodeOf(err) == errs.TaskNotFound {
		return record.NotFound(tx.ID)
	}
	return errs.With(err, "task", tx.ID)
}

// RefreshStateMD updates STATE.md if err says that the task is stuck or not stuck: the
// command that changed the task may have been killed before it wrote the file.
func (tx *Tx) RefreshStateMD(ctx context.Context, err error) {
	if errs.CodeOf(err) == errs.TaskStuck || errs.CodeOf(err) == errs.TaskNotStuck {
		tx.writeStateMD(ctx)
	}
}

// Base returns the commit that the task's draft is compared with: the one that the command
// names, else a new one if the task begins, else the recorded one. A new one is the commit
// that the task's branch is at; without a branch, see core.Project.NewBase.
// It is "" without git or a recorded base; the draft is then compared with HEAD.
func (tx *Tx) Base(ctx context.Context) (string, error) {
	if tx.BaseCommit != "" {
		return tx.BaseCommit, nil
	}
	if tx.BaseRev == "" && !tx.isStart() {
		tx.BaseCommit = tx.Status.Base
		return tx.BaseCommit, nil
	}
	if b := tx.Status.Branch; b != nil && tx.BaseRev == "" {
		return b.Head(), nil // The checkout may be at another commit.
	}
	config, err := tx.Project.Plugins().UncheckedConfig(ctx)
	if err != nil {
		return "", err
	}
	tx.BaseCommit, err = tx.Project.NewBase(ctx, tx.BaseRev, config)
	return tx.BaseCommit, tx.WithTaskID(err)
}

// isStart reports whether the command begins the task or restarts its work.
func (tx *Tx) isStart() bool {
	return tx.Head.N == 0 || tx.isPending(task.KindStarted)
}

// ErrNeedsRun returns the error of a command that would commit a task with its own branch.
func (tx *Tx) ErrNeedsRun() error {
	return errs.New(errs.TaskNeedsRun, "task %s has its own branch, and only run commits to it", tx.ID).With("task", tx.ID)
}
