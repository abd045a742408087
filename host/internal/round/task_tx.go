package round

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// taskTx is the work of one command on one task.
type taskTx struct {
	engine *Engine
	ledger *ledger.Ledger
	id     string
	head   ledger.Head
	// status is where the task stands, with what is pending applied.
	status storedStatus
	// pending is what comes before the command's own event, in the same
	// transaction: the answers that hold because their time is over.
	pending []event.Full
	// policy is the one that decided what is pending, nil for none.
	policy *policyset.Selection
	// baseRev is the base of the draft as the caller names it, "" for none, and baseCommit
	// is the commit that the command found for it, "" before it looked.
	baseRev, baseCommit string
	// prompt is what the task is, as the caller says, "" if it does not.
	prompt string
}

// taskPrompt describe the task, if the caller or the record does; else they are empty.
func (tx *taskTx) taskPrompt() string { return cmp.Or(tx.prompt, tx.status.Prompt) }

// beginTx opens a task. The caller must close what it gets, also with an error.
func (e *Engine) beginTx(ctx context.Context, id string) (*taskTx, error) {
	tx := &taskTx{engine: e, id: id}
	if err := task.CheckID(id); err != nil {
		return tx, err
	}
	l, err := e.OpenLedger(ctx)
	if err != nil {
		return tx, err
	}
	tx.ledger = l
	return tx, tx.begin(ctx)
}

func (tx *taskTx) close() {
	if tx.ledger != nil {
		_ = tx.ledger.Close() // Everything that matters was committed before.
	}
}

// begin begins a command on the task as it is now. Answers that hold because their time
// is over come before the command's own event, in the same transaction.
func (tx *taskTx) begin(ctx context.Context) error {
	if err := tx.reload(ctx); err != nil {
		return err
	}
	return tx.apply(task.ExpireQuestions{Now: timestamp(tx.engine.now())}, event.Full{By: bySwitchyard})
}

// reload reads where the task stands, and forgets what is pending.
func (tx *taskTx) reload(ctx context.Context) error {
	head, err := tx.ledger.Head(ctx, tx.id)
	if err != nil {
		return err
	}
	tx.head, tx.status, tx.pending = head, storedStatus{TaskStatus: api.TaskStatus{TaskID: tx.id}}, nil
	if head.N != 0 {
		if tx.status, err = status(head); err != nil {
			return err
		}
	}
	return nil
}

// bySwitchyard is who recorded what nobody commanded.
const bySwitchyard = task.BySwitchyard

// timestamp is a time in the form that the state machine compares, which is the
// ledger's.
func timestamp(t time.Time) string { return t.UTC().Format(ledger.TimeFormat) }

// apply decides a command and adds its event, if there is one, to what is
// pending.
func (tx *taskTx) apply(c task.Command, r event.Full) error {
	change, err := task.Decide(tx.status.State, c)
	if err != nil || change == nil {
		return tx.withTaskID(err)
	}
	return tx.add(change, r)
}

// add puts an event after what is pending. The transaction folds the event again from the
// bytes that it records: Verify folds the same bytes, and a value that JSON does not keep
// exactly, as a string that is not UTF-8, would give it another state.
func (tx *taskTx) add(change task.Event, r event.Full) error {
	next, err := task.Apply(tx.status.State, change)
	if err != nil {
		return err
	}
	r.Event = change
	tx.status.State = next
	tx.pending = append(tx.pending, r)
	return nil
}

// commit records what is pending, in one transaction, and returns where the
// last event is in the task's chain, or nil where nothing was pending. Once the
// events are known to fit into the ledger, it calls before, which may be nil.
func (tx *taskTx) commit(ctx context.Context, before func() error) (*api.EventRef, error) {
	if len(tx.pending) == 0 {
		return nil, nil
	}
	base := ""
	if tx.status.Status != task.NoTask && (tx.baseRev != "" || tx.begins()) {
		var err error
		switch base, err = tx.base(ctx); {
		case errs.CodeOf(err) == errs.TreeUnreadable && tx.baseRev == "":
			tx.engine.warn(err) // What needs no diff goes on without a repository, too.
		case err != nil:
			return nil, err
		}
	}
	drafts := make([]ledger.NewEvent, len(tx.pending))
	for i, r := range tx.pending {
		if r.By == "" {
			r.By = tx.engine.by
		}
		if i == 0 && tx.head.N != 0 {
			r.Before = digestOf(tx.head.State)
		}
		if i == 0 && base != tx.status.Base {
			r.Base = base
		}
		if i == 0 && tx.prompt != tx.status.Prompt {
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
	last, err := tx.append(ctx, ledger.Batch{Task: tx.id, After: tx.head.N, Events: drafts})
	if err != nil {
		return nil, err
	}
	tx.pending, tx.policy, tx.status.Event, tx.status.UpdatedAt = nil, nil, last.N, last.At
	tx.status.Base, tx.status.Prompt = cmp.Or(base, tx.status.Base), tx.taskPrompt()
	// Where there are marks, one of this task may be there that a killed command
	// left behind.
	if tx.status.Status == task.Stuck || tx.status.Status != task.NoTask && tx.engine.rooted().Exists(project.StateMDFile) {
		tx.writeStateMD(ctx)
	}
	return &api.EventRef{N: last.N, Hash: last.Hash}, nil
}

// append records what a command made of a task, together with what the ledger does
// not know yet of the policy that decided it, and returns the task's last event.
func (tx *taskTx) append(ctx context.Context, batch ledger.Batch) (ledger.Event, error) {
	for {
		batches := []ledger.Batch{batch}
		if tx.policy != nil {
			about, err := tx.engine.policies.Events(ctx, tx.ledger, *tx.policy)
			if err != nil {
				return ledger.Event{}, err
			}
			// Also where nothing is to be recorded of it, the policy decides only as
			// long as nobody adopts another one.
			batches = []ledger.Batch{about, batch}
		}
		events, err := tx.engine.Append(ctx, tx.ledger, batches...)
		if err == nil {
			return events[len(events)-1], nil
		}
		// Other tasks' commands may be the first to keep the same policy.
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.Code != errs.LedgerConflict || f.Details["task"] != policyset.Chain {
			return ledger.Event{}, err
		}
		if *tx.policy, err = tx.engine.policies.Recheck(ctx, tx.ledger, *tx.policy); err != nil {
			return ledger.Event{}, err
		}
	}
}

// command turns where a task stands into what is wanted of it, and into what is
// recorded with the event.
type command func(tx *taskTx) (task.Command, event.Full, error)

// update carries a command out, and returns where the task stands then, with
// the event, or nil where there was nothing to do. Where another process
// changes the task meanwhile, the command is decided anew, as long as the task
// is in the same round.
func (e *Engine) update(ctx context.Context, id string, c command) (api.TaskStatus, *api.EventRef, error) {
	tx, err := e.beginTx(ctx, id)
	defer tx.close()
	if err != nil {
		return api.TaskStatus{}, nil, err
	}
	round := max(tx.status.Round, 1)
	for {
		command, r, err := c(tx)
		if err == nil {
			err = tx.apply(command, r)
		}
		if err != nil {
			tx.refreshStateMD(ctx, err)
			return api.TaskStatus{}, nil, err
		}
		event, err := tx.commit(ctx, nil)
		if errs.CodeOf(err) != errs.LedgerConflict {
			return tx.status.public(), event, err
		}
		if err := tx.begin(ctx); err != nil {
			return api.TaskStatus{}, nil, err
		}
		if tx.status.Round != round {
			return api.TaskStatus{}, nil, errLostRace(round, tx.status.State)
		}
	}
}

// errLostRace is the error of a command that another process was faster than. The
// round's number may be the same, where that process did not advance it.
func errLostRace(round int, now task.State) error {
	return errs.New(errs.RoundShifted, "another command was first in round %d; the task is %s, in round %d", round, now.Status, now.Round).
		With("expected", round).With("actual", now.Round)
}

// mapConflict says what a failed append means for a command about a round.
func (tx *taskTx) mapConflict(ctx context.Context, round int, err error) error {
	if errs.CodeOf(err) != errs.LedgerConflict {
		return err
	}
	if tx.reload(ctx) != nil {
		return err
	}
	return errLostRace(round, tx.status.State)
}

// withTaskID names the task in an error.
func (tx *taskTx) withTaskID(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
		return err
	case f.Code == errs.TaskNotFound:
		return errTaskNotFound(tx.id)
	default:
		return f.With("task", tx.id)
	}
}

// refreshStateMD puts the task's mark right where a command finds the task stuck: the
// one that left it so may have been killed before it could.
func (tx *taskTx) refreshStateMD(ctx context.Context, err error) {
	if errs.CodeOf(err) == errs.TaskStuck || errs.CodeOf(err) == errs.TaskNotStuck {
		tx.writeStateMD(ctx)
	}
}

// base is the commit that the task's draft is compared with: the one that the command
// names, else the recorded one, and for a task that begins the one that it begins at.
// It is "" without git, and for a task of which none was recorded: that is compared
// with HEAD.
func (tx *taskTx) base(ctx context.Context) (string, error) {
	if tx.baseCommit != "" {
		return tx.baseCommit, nil
	}
	if tx.baseRev == "" && !tx.begins() {
		return tx.status.Base, nil
	}
	config, err := tx.engine.plugins.UncheckedConfig(ctx)
	if err != nil {
		return "", err
	}
	tx.baseCommit, err = tx.engine.newBase(ctx, tx.baseRev, config)
	return tx.baseCommit, tx.withTaskID(err)
}

// newBase is the commit that a draft is compared with from now on: the one that rev
// names, "" for that of the settings. Without git it is "", unless rev names one.
func (e *Engine) newBase(ctx context.Context, rev string, config project.Config) (string, error) {
	keeper, err := e.supervisor()
	if err != nil {
		return "", err
	}
	commit, err := worktree.Tree{Root: e.project.Root, Supervisor: keeper, Environ: e.environ}.Base(ctx, rev, config.Base)
	switch code := errs.CodeOf(err); {
	case code == errs.TreeNoGit && rev == "":
		return "", nil
	case code == errs.TreeBaseUnknown && rev == "" && config.Base != "":
		return "", errs.New(code, "base in %s: %w", project.ConfigFile, err).With("base", config.Base).
			WithHint("name a branch of this repository there, or a commit with --base")
	}
	return commit, err
}

// begins reports whether the command begins the task, or its work anew.
func (tx *taskTx) begins() bool {
	return tx.head.N == 0 || slices.ContainsFunc(tx.pending, func(r event.Full) bool { return r.Event.Kind() == task.KindStarted })
}
