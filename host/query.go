package host

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/task"
)

// Tasks lists every task of the project by id.
func (e *Engine) Tasks(ctx context.Context) ([]TaskStatus, error) {
	l, err := e.ledger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var tasks []TaskStatus
	for head, err := range l.Heads(ctx) {
		if err != nil {
			return nil, err
		}
		s, err := status(head)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, s)
	}
	return tasks, nil
}

// Task says where one task stands, or CodeTaskNotFound.
func (e *Engine) Task(ctx context.Context, id string) (TaskStatus, error) {
	if err := task.CheckID(id); err != nil {
		return TaskStatus{}, err
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return TaskStatus{}, err
	}
	defer l.Close()
	head, err := l.Head(ctx, id)
	if err != nil {
		return TaskStatus{}, err
	}
	return known(id, head)
}

// Explanation is why a round went where it went.
type Explanation struct {
	Task TaskStatus `json:"task"`
	// DecidedAt is when, RFC 3339 in UTC.
	DecidedAt string   `json:"decided_at"`
	Decision  Decision `json:"decision"`
	// History lists all decisions of the task, oldest first.
	History []HistoryEntry `json:"history"`
}

// HistoryEntry is one decision in short.
type HistoryEntry struct {
	task.Decided
	At    string `json:"at"`
	Event Event  `json:"event"`
}

// Explain returns the newest decision of a round, or of the task where round is
// 0, with everything that led to it. It follows the task's chain on the way, so
// that what it shows is what was decided.
//
// # Errors
//
// CodeTaskNotFound, CodeRoundNotFound, CodeTampered, and the ledger's codes.
func (e *Engine) Explain(ctx context.Context, id string, round int) (Explanation, error) {
	if err := task.CheckID(id); err != nil {
		return Explanation{}, err
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return Explanation{}, err
	}
	defer l.Close()
	var x Explanation
	head, err := l.Head(ctx, id)
	if err != nil {
		return Explanation{}, err
	}
	if x.Task, err = known(id, head); err != nil {
		return Explanation{}, err
	}
	prev := ledger.Genesis
	for event, err := range l.Events(ctx, id) {
		if err != nil {
			return Explanation{}, err
		}
		if event.Prev != prev || event.Hash != event.Sum() {
			return Explanation{}, tampered(id, "event %d does not fit into its chain", event.N)
		}
		prev = event.Hash
		var body decidedBody
		if err := json.Unmarshal(event.Body, &body); err != nil {
			return Explanation{}, tampered(id, "event %d cannot be read: %w", event.N, err)
		}
		at := Event{N: event.N, Hash: event.Hash}
		x.History = append(x.History, HistoryEntry{Decided: body.Event, At: event.At, Event: at})
		if round == 0 || body.Event.Round == round {
			x.Decision, x.DecidedAt = body.Decision, event.At
			x.Decision.Event = &at
		}
	}
	if len(x.History) == 0 || x.History[len(x.History)-1].Event.Hash != head.Hash {
		return Explanation{}, tampered(id, "its newest events are missing")
	}
	if x.Decision.Event == nil {
		return Explanation{}, fault.New(CodeRoundNotFound, "task %s has no decision of round %d", id, round).With("task", id).With("round", round)
	}
	return x, nil
}

// known is the status of a task, which must have one.
func known(id string, head ledger.Head) (TaskStatus, error) {
	if head.N == 0 {
		return TaskStatus{}, fault.New(CodeTaskNotFound, "nothing is recorded for task %s", id).With("task", id)
	}
	return status(head)
}

// status reads a task's projection. A ledger can be edited by hand, or come with
// a repository, so what is read is not yet what was written.
func status(head ledger.Head) (TaskStatus, error) {
	var s TaskStatus
	err := json.Unmarshal(head.State, &s)
	if err == nil {
		err = s.Check()
	}
	if err == nil && s.TaskID != head.Task {
		err = fmt.Errorf("the state of %q", s.TaskID)
	}
	if err != nil {
		return s, tampered(head.Task, "its state is not that of its events: %w", err)
	}
	return s, nil
}

// tampered is the error of a ledger that holds what we never wrote.
func tampered(id, format string, args ...any) error {
	return fault.New(CodeTampered, "the record of task "+id+" was changed: "+format, args...).With("task", id)
}
