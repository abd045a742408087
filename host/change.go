package host

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// session is the work of one command on one task.
type session struct {
	*Engine
	ledger *ledger.Ledger
	id     string
	head   ledger.Head
	// status is where the task stands, with what is pending applied.
	status kept
	// pending is what comes before the command's own event, in the same
	// transaction: the answers that hold because their time is over.
	pending []event.Full
	// policy is the one that decided what is pending, nil for none.
	policy *policyset.Selection
	// rev is the base of the draft as the caller names it, "" if it does not, and found
	// is the commit that the command found for it, "" before it looked.
	rev, found string
	// prompt is what the task is, as the caller says, "" if it does not.
	prompt string
}

// words describe the task, if the caller or the record does; else they are empty.
func (s *session) words() string { return cmp.Or(s.prompt, s.status.Prompt) }

// begin opens a task. The caller must close what it gets, also with an error.
func (e *Engine) begin(ctx context.Context, id string) (*session, error) {
	s := &session{Engine: e, id: id}
	if err := task.CheckID(id); err != nil {
		return s, err
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return s, err
	}
	s.ledger = l
	return s, s.look(ctx)
}

func (s *session) close() {
	if s.ledger != nil {
		_ = s.ledger.Close() // Everything that matters was committed before.
	}
}

// look reads where the task stands now.
func (s *session) look(ctx context.Context) error {
	head, err := s.ledger.Head(ctx, s.id)
	if err != nil {
		return err
	}
	s.head, s.status, s.pending = head, kept{TaskStatus: TaskStatus{TaskID: s.id}}, nil
	if head.N != 0 {
		if s.status, err = status(head); err != nil {
			return err
		}
	}
	return s.apply(task.ExpireQuestions{Now: stamp(s.now())}, event.Full{By: bySwitchyard})
}

// bySwitchyard is who recorded what nobody commanded.
const bySwitchyard = task.BySwitchyard

// stamp is a time in the form that the state machine compares, which is the
// ledger's.
func stamp(t time.Time) string { return t.UTC().Format(ledger.TimeFormat) }

// apply decides a command and adds its event, if there is one, to what is
// pending.
func (s *session) apply(c task.Command, r event.Full) error {
	change, err := task.Decide(s.status.State, c)
	if err != nil || change == nil {
		return s.about(err)
	}
	return s.add(change, r)
}

// add puts an event after what is pending.
func (s *session) add(change task.Event, r event.Full) error {
	next, err := task.Apply(s.status.State, change)
	if err != nil {
		return err
	}
	r.Event = change
	s.status.State = next
	s.pending = append(s.pending, r)
	return nil
}

// commit records what is pending, in one transaction, and returns where the
// last event is in the task's chain, or nil where nothing was pending. Once the
// events are known to fit into the ledger, it calls before, which may be nil.
func (s *session) commit(ctx context.Context, before func() error) (*EventRef, error) {
	if len(s.pending) == 0 {
		return nil, nil
	}
	base := ""
	if s.status.Status != task.NoTask && (s.rev != "" || s.begins()) {
		var err error
		switch base, err = s.base(ctx); {
		case errs.CodeOf(err) == errs.TreeUnreadable && s.rev == "":
			s.warn(err) // What needs no diff goes on without a repository, too.
		case err != nil:
			return nil, err
		}
	}
	drafts := make([]ledger.NewEvent, len(s.pending))
	for i, r := range s.pending {
		if r.By == "" {
			r.By = s.by
		}
		if i == 0 && s.head.N != 0 {
			r.Before = digestOf(s.head.State)
		}
		if i == 0 && base != s.status.Base {
			r.Base = base
		}
		if i == 0 && s.prompt != s.status.Prompt {
			r.Prompt = s.prompt
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
	last, err := s.append(ctx, ledger.Batch{Task: s.id, After: s.head.N, Events: drafts})
	if err != nil {
		return nil, err
	}
	s.pending, s.policy, s.status.Event, s.status.UpdatedAt = nil, nil, last.N, last.At
	s.status.Base, s.status.Prompt = cmp.Or(base, s.status.Base), s.words()
	// Where there are marks, one of this task may be there that a killed command
	// left behind.
	if s.status.Status == task.Stuck || s.status.Status != task.NoTask && s.rooted().Exists(project.StateMDFile) {
		s.mark(ctx)
	}
	return &EventRef{N: last.N, Hash: last.Hash}, nil
}

// append records what a command made of a task, together with what the ledger does
// not know yet of the policy that decided it, and returns the task's last event.
func (s *session) append(ctx context.Context, batch ledger.Batch) (ledger.Event, error) {
	for {
		batches := []ledger.Batch{batch}
		if s.policy != nil {
			about, err := s.policies.Events(ctx, s.ledger, *s.policy)
			if err != nil {
				return ledger.Event{}, err
			}
			// Also where nothing is to be recorded of it, the policy decides only as
			// long as nobody adopts another one.
			batches = []ledger.Batch{about, batch}
		}
		events, err := s.store(ctx, s.ledger, batches...)
		if err == nil {
			return events[len(events)-1], nil
		}
		// Other tasks' commands may be the first to keep the same policy.
		if f, ok := errors.AsType[*errs.Error](err); !ok || f.Code != errs.LedgerConflict || f.Details["task"] != policyset.Chain {
			return ledger.Event{}, err
		}
		if *s.policy, err = s.policies.Recheck(ctx, s.ledger, *s.policy); err != nil {
			return ledger.Event{}, err
		}
	}
}

// command turns where a task stands into what is wanted of it, and into what is
// recorded with the event.
type command func(s *session) (task.Command, event.Full, error)

// change carries a command out, and returns where the task stands then, with
// the event, or nil where there was nothing to do. Where another process
// changes the task meanwhile, the command is decided anew, as long as the task
// is in the same round.
func (e *Engine) change(ctx context.Context, id string, c command) (TaskStatus, *EventRef, error) {
	s, err := e.begin(ctx, id)
	defer s.close()
	if err != nil {
		return TaskStatus{}, nil, err
	}
	round := max(s.status.Round, 1)
	for {
		command, r, err := c(s)
		if err == nil {
			err = s.apply(command, r)
		}
		if err != nil {
			s.repair(ctx, err)
			return TaskStatus{}, nil, err
		}
		event, err := s.commit(ctx, nil)
		if errs.CodeOf(err) != errs.LedgerConflict {
			return s.status.public(), event, err
		}
		if err := s.look(ctx); err != nil {
			return TaskStatus{}, nil, err
		}
		if s.status.Round != round {
			return TaskStatus{}, nil, lostRace(round, s.status.State)
		}
	}
}

// lostRace is the error of a command that another process was faster than. The
// round's number may be the same, where that process did not advance it.
func lostRace(round int, now task.State) error {
	return errs.New(errs.RoundShifted, "another command was first in round %d; the task is %s, in round %d", round, now.Status, now.Round).
		With("expected", round).With("actual", now.Round)
}

// raced says what a failed append means for a command about a round.
func (s *session) raced(ctx context.Context, round int, err error) error {
	if errs.CodeOf(err) != errs.LedgerConflict {
		return err
	}
	if look := s.look(ctx); look != nil {
		return err
	}
	return lostRace(round, s.status.State)
}

// about names the task in an error.
func (s *session) about(err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
		return err
	case f.Code == errs.TaskNotFound:
		return notFound(s.id)
	default:
		return f.With("task", s.id)
	}
}

// repair puts the task's mark right where a command finds the task stuck: the
// one that left it so may have been killed before it could.
func (s *session) repair(ctx context.Context, err error) {
	if errs.CodeOf(err) == errs.TaskStuck || errs.CodeOf(err) == errs.TaskNotStuck {
		s.mark(ctx)
	}
}
