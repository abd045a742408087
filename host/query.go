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
	return find(ctx, l, id)
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
// 0, with everything that led to it.
//
// # Errors
//
// CodeTaskNotFound, CodeRoundNotFound, and the ledger's codes.
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
	if x.Task, err = find(ctx, l, id); err != nil {
		return Explanation{}, err
	}
	for event, err := range l.Events(ctx, id) {
		if err != nil {
			return Explanation{}, err
		}
		var body decidedBody
		if err := json.Unmarshal(event.Body, &body); err != nil {
			return Explanation{}, fmt.Errorf("read event %d of %s: %w", event.N, id, err)
		}
		at := Event{N: event.N, Hash: event.Hash}
		x.History = append(x.History, HistoryEntry{Decided: body.Event, At: event.At, Event: at})
		if round == 0 || body.Event.Round == round {
			x.Decision, x.DecidedAt = body.Decision, event.At
			x.Decision.Event = &at
		}
	}
	if x.Decision.Event == nil {
		return Explanation{}, fault.New(CodeRoundNotFound, "task %s has no decision of round %d", id, round).With("task", id).With("round", round)
	}
	return x, nil
}

func find(ctx context.Context, l *ledger.Ledger, id string) (TaskStatus, error) {
	head, err := l.Head(ctx, id)
	if err != nil {
		return TaskStatus{}, err
	}
	if head.N == 0 {
		return TaskStatus{}, fault.New(CodeTaskNotFound, "nothing is recorded for task %s", id).With("task", id)
	}
	return status(head)
}

func status(head ledger.Head) (TaskStatus, error) {
	var s TaskStatus
	if err := json.Unmarshal(head.State, &s); err != nil {
		return s, fmt.Errorf("read state of %s: %w", head.Task, err)
	}
	return s, nil
}
