package round

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

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

// taskTx is the transaction of one command on one task.
type taskTx struct {
	engine *Engine
	// Task has the task's status with the pending events applied.
	record.Task
	// pending are the events to record before the command's own, in the same transaction,
	// such as expired answers.
	pending []event.Full
	// policy is the policy that made the pending decision, nil for none.
	policy *policyset.Selection
	// baseRev is the draft's base as the caller names it, "" for none. baseCommit is its
	// commit, "" if not resolved yet.
	baseRev, baseCommit string
	// prompt is the caller's description of the task, "" for none.
	prompt string
}

// taskPrompt returns the caller's or the recorded description of the task.
func (tx *taskTx) taskPrompt() string { return cmp.Or(tx.prompt, tx.Status.Prompt) }

// tree returns the path of the task's working tree: its own worktree, or the checkout.
func (tx *taskTx) tree() string {
	if b := tx.Status.Branch; b != nil {
		return b.Worktree
	}
	return tx.engine.project.Root
}

// beginTx opens a task. The caller must close the result.
func (e *Engine) beginTx(ctx context.Context, id string) (*taskTx, error) {
	r, err := e.project.OpenTask(ctx, id)
	if err != nil {
		return nil, err
	}
	tx := &taskTx{engine: e, Task: *r}
	if err := tx.begin(ctx); err != nil {
		tx.Close()
		return nil, err
	}
	return tx, nil
}

// begin begins a command on the current task. Default answers and ends of usage limits that
// have become due precede the command's own event, in the same transaction.
func (tx *taskTx) begin(ctx context.Context) error {
	if err := tx.reload(ctx); err != nil {
		return err
	}
	now := timestamp(tx.engine.project.Now())
	return cmp.Or(
		tx.apply(task.ExpireQuestions{Now: now}, event.Full{By: bySwitchyard}),
		tx.apply(task.EndParking{Now: now}, event.Full{By: bySwitchyard}),
	)
}

// reload reads the task's status and drops the pending events.
func (tx *taskTx) reload(ctx context.Context) error {
	if err := tx.Load(ctx); err != nil {
		return err
	}
	tx.pending = nil
	if b := tx.Status.Branch; b != nil && tx.engine.project.Worktree != "" {
		here := *b
		here.Worktree = tx.engine.project.Worktree
		tx.Status.Branch = &here
	}
	return nil
}

// bySwitchyard is the author of events that no user command asked for.
const bySwitchyard = task.BySwitchyard

// timestamp formats a time as the ledger does; the state machine compares such strings.
func timestamp(t time.Time) string { return t.UTC().Format(ledger.TimeFormat) }

// apply decides a command and adds its event, if any, to the pending ones.
func (tx *taskTx) apply(c task.Command, r event.Full) error {
	change, err := task.Decide(tx.Status.State, c)
	if err != nil || change == nil {
		return tx.withTaskID(err)
	}
	return tx.add(change, r)
}

// add appends a pending event. The transaction folds the event again from its recorded
// bytes, as Verify does: a value that JSON cannot represent exactly, such as invalid
// UTF-8, would otherwise give another state.
func (tx *taskTx) add(change task.Event, r event.Full) error {
	next, err := task.Apply(tx.Status.State, change)
	if err != nil {
		return err
	}
	r.Event = change
	tx.Status.State = next
	tx.pending = append(tx.pending, r)
	return nil
}

// commit records the pending events in one transaction and returns the position of the
// last one, or nil if there are none. Once the events are known to fit into the ledger, it
// calls before, which may be nil.
func (tx *taskTx) commit(ctx context.Context, before func() error) (*api.EventRef, error) {
	if len(tx.pending) == 0 {
		return nil, nil
	}
	base := ""
	if tx.Status.Status != task.NoTask && (tx.baseRev != "" || tx.begins()) {
		var err error
		switch base, err = tx.base(ctx); {
		case errs.CodeOf(err) == errs.TreeUnreadable && tx.baseRev == "":
			tx.engine.project.Warn(err) // A task that needs no diff also works without a repository.
		case err != nil:
			return nil, err
		}
	}
	drafts := make([]ledger.NewEvent, len(tx.pending))
	for i, r := range tx.pending {
		if r.By == "" {
			r.By = tx.engine.project.By
		}
		if i == 0 && tx.Head.N != 0 {
			r.Before = digest.Of(tx.Head.State)
		}
		if i == 0 && base != tx.Status.Base {
			r.Base = base
		}
		if i == 0 && tx.prompt != tx.Status.Prompt {
			r.Prompt = tx.prompt
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
	tx.pending, tx.policy, tx.Status.Event, tx.Status.UpdatedAt = nil, nil, last.N, last.At
	tx.Status.Base, tx.Status.Prompt = cmp.Or(base, tx.Status.Base), tx.taskPrompt()
	// A killed command may have left an outdated section in STATE.md.
	if tx.Status.Status == task.Stuck || tx.Status.Status != task.NoTask && tx.engine.project.AtRoot().Exists(project.StateMDFile) {
		tx.writeStateMD(ctx)
	}
	return &api.EventRef{N: last.N, Hash: last.Hash}, nil
}

// append records a batch of a task's events, with the policy that decided it if the ledger
// does not have that policy yet, and returns the last event.
func (tx *taskTx) append(ctx context.Context, batch ledger.Batch) (ledger.Event, error) {
	for {
		batches := []ledger.Batch{batch}
		if tx.policy != nil {
			about, err := tx.engine.project.Policies().Events(ctx, tx.Ledger, *tx.policy)
			if err != nil {
				return ledger.Event{}, err
			}
			// Even an empty batch detects that another policy was adopted meanwhile.
			batches = []ledger.Batch{about, batch}
		}
		events, err := tx.engine.project.Append(ctx, tx.Ledger, batches...)
		if err == nil {
			return events[len(events)-1], nil
		}
		// Commands on other tasks may record the same policy first.
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.Code != errs.LedgerConflict || f.Details["task"] != policyset.Chain {
			return ledger.Event{}, err
		}
		if *tx.policy, err = tx.engine.project.Policies().Recheck(ctx, tx.Ledger, *tx.policy); err != nil {
			return ledger.Event{}, err
		}
	}
}

// command returns the command for the current task and the data to record with its event.
type command func(tx *taskTx) (task.Command, event.Full, error)

// update runs a command on a task.
func (e *Engine) update(ctx context.Context, id string, c command) (api.TaskResult, error) {
	tx, err := e.beginTx(ctx, id)
	if err != nil {
		return api.TaskResult{}, err
	}
	defer tx.Close()
	return tx.update(ctx, c)
}

// update runs a command. If another process changes the task meanwhile, the command is
// decided again, as long as the task is in the same round.
func (tx *taskTx) update(ctx context.Context, c command) (api.TaskResult, error) {
	round := max(tx.Status.Round, 1)
	for {
		command, r, err := c(tx)
		if err == nil {
			err = tx.apply(command, r)
		}
		if err != nil {
			tx.refreshStateMD(ctx, err)
			return api.TaskResult{}, err
		}
		event, err := tx.commit(ctx, nil)
		if errs.CodeOf(err) != errs.LedgerConflict {
			return api.TaskResult{TaskStatus: tx.Status.Public(), Recorded: event}, err
		}
		if err := tx.begin(ctx); err != nil {
			return api.TaskResult{}, err
		}
		if tx.Status.Round != round {
			return api.TaskResult{}, errLostRace(round, tx.Status.State)
		}
	}
}

// record records a command that no user asked for.
func (tx *taskTx) record(ctx context.Context, c task.Command) error {
	_, err := tx.update(ctx, func(*taskTx) (task.Command, event.Full, error) { return c, event.Full{By: bySwitchyard}, nil })
	return err
}

// errLostRace returns the error of a command that another process preceded. The round is
// the same if that process did not advance it.
func errLostRace(round int, now task.State) error {
	return errs.New(errs.RoundShifted, "another command was first in round %d; the task is %s, in round %d", round, now.Status, now.Round).
		With("expected", round).With("actual", now.Round)
}

// mapConflict replaces a ledger conflict by the error of a lost race.
func (tx *taskTx) mapConflict(ctx context.Context, round int, err error) error {
	if errs.CodeOf(err) != errs.LedgerConflict {
		return err
	}
	if tx.reload(ctx) != nil {
		return err
	}
	return errLostRace(round, tx.Status.State)
}

// withTaskID adds the task's id to an error.
func (tx *taskTx) withTaskID(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
		return err
	case f.Code == errs.TaskNotFound:
		return record.NotFound(tx.ID)
	default:
		return f.With("task", tx.ID)
	}
}

// refreshStateMD updates STATE.md if err says that the task is stuck or not stuck: the
// command that changed it may have been killed before it did.
func (tx *taskTx) refreshStateMD(ctx context.Context, err error) {
	if errs.CodeOf(err) == errs.TaskStuck || errs.CodeOf(err) == errs.TaskNotStuck {
		tx.writeStateMD(ctx)
	}
}

// base returns the commit that the task's draft is compared with: the one that the command
// names, else the recorded one, else a new one (see newBase) if the task begins. It is ""
// without git, and if none was recorded; the draft is then compared with HEAD.
func (tx *taskTx) base(ctx context.Context) (string, error) {
	if tx.baseCommit != "" {
		return tx.baseCommit, nil
	}
	if tx.baseRev == "" && !tx.begins() {
		return tx.Status.Base, nil
	}
	config, err := tx.engine.project.Plugins().UncheckedConfig(ctx)
	if err != nil {
		return "", err
	}
	tx.baseCommit, err = tx.engine.project.NewBase(ctx, tx.baseRev, config)
	return tx.baseCommit, tx.withTaskID(err)
}

// begins reports whether the command begins the task or restarts its work.
func (tx *taskTx) begins() bool {
	return tx.Head.N == 0 || slices.ContainsFunc(tx.pending, func(r event.Full) bool { return r.Event.Kind() == task.KindStarted })
}
