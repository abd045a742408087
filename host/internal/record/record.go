// Package record reads a project's tasks from the ledger. It has the fold that makes a task's
// status, entries and counters from its events.
package record

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Task is a task in the ledger.
type Task struct {
	Ledger *ledger.Ledger
	ID     string
	// Load sets these.
	Head   ledger.Head
	Status StoredStatus
}

// Close closes the ledger. Its error does not matter, because all changes were committed.
func (r *Task) Close() error { return r.Ledger.Close() }

// Load reads the task's head and status. A task without events has no status.
func (r *Task) Load(ctx context.Context) error {
	head, err := r.Ledger.Head(ctx, r.ID)
	if err != nil {
		return err
	}
	r.Head, r.Status = head, StoredStatus{TaskStatus: api.TaskStatus{TaskID: r.ID}}
	if head.N != 0 {
		r.Status, err = status(head)
	}
	if err != nil || r.Status.FindingsEvent == 0 || r.Status.Reviews > r.Status.ResetReview {
		return err
	}
	// The fold does not forget the findings of a stop at a reset without a review before it.
	// It cannot, because events have the digest of the state.
	for e, err := range r.Events(ctx, r.Status.FindingsEvent+1, task.KindStarted, task.KindResumed) {
		if err != nil {
			return err
		}
		if resumed, ok := e.Event.(*task.WorkResumed); !ok || resumed.Mode == task.Reset {
			r.Status.FindingsEvent = 0
		}
	}
	return nil
}

// LoadExisting is Load for a task that exists.
//
// # Errors
//
// task-not-found if the ledger has no such task.
func (r *Task) LoadExisting(ctx context.Context) error {
	if err := r.Load(ctx); err != nil {
		return err
	}
	switch {
	case r.Head.N == 0:
		return NotFound(r.ID)
	case r.Status.Status == task.NoTask:
		return event.Tampered(r.ID, "its events do not make a task")
	}
	return nil
}

// Event is an event with the facts of its body.
type Event struct {
	event.Facts
	Stored ledger.Event
}

// Events yields the task's events of some kinds, from number from on. It reads no others.
func (r *Task) Events(ctx context.Context, from int64, kinds ...task.Kind) iter.Seq2[Event, error] {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return func(yield func(Event, error) bool) {
		for e, err := range r.Ledger.Events(ctx, r.ID, from, names...) {
			var read Event
			if err == nil {
				read, err = r.readEvent(e.N, e)
			}
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

// Spawns yields the records of the agents' runs that ended in event from or later. It skips
// runs that were lost with their host.
func (r *Task) Spawns(ctx context.Context, from int64) iter.Seq2[outcome.Record, error] {
	return func(yield func(outcome.Record, error) bool) {
		for e, err := range r.Events(ctx, from, task.KindSpawnEnded) {
			var record outcome.Record
			if e.Spawn != nil {
				record = *e.Spawn
			}
			if (err != nil || record.RunID != "") && !yield(record, err) {
				return
			}
		}
	}
}

// readEvent reads the facts of the body of event n.
func (r *Task) readEvent(n int64, e ledger.Event) (Event, error) {
	facts, err := event.Decode(e)
	if err != nil {
		err = event.Tampered(r.ID, "event %d cannot be read: %w", n, err)
	}
	return Event{facts, e}, err
}

// FullEvent returns event n, and checks its contents.
func (r *Task) FullEvent(ctx context.Context, n int64) (event.Full, error) {
	e, err := r.Ledger.Event(ctx, r.ID, n)
	if err != nil {
		return event.Full{}, err
	}
	return r.readFull(n, e)
}

// readFull reads the body of event n, and checks the event's hash.
func (r *Task) readFull(n int64, e ledger.Event) (event.Full, error) {
	body, err := event.DecodeFull(e)
	if err == nil && e.Hash != e.Sum() {
		err = fmt.Errorf("its hash does not match its contents")
	}
	if err != nil {
		return event.Full{}, event.Tampered(r.ID, "event %d: %w", n, err)
	}
	return body, nil
}

// entry returns the task's entry with a key, nil if there is no such entry.
func entry[T any](ctx context.Context, r *Task, key string) (*T, error) {
	entries, err := r.Ledger.Entries(ctx, r.ID, []string{key})
	if err != nil || entries[key] == nil {
		return nil, err
	}
	value := new(T)
	if err := json.Unmarshal(entries[key], value); err != nil {
		return nil, event.Tampered(r.ID, "%s cannot be read: %w", key, err)
	}
	return value, nil
}

// latestEntries returns up to n of the latest entries with a prefix, oldest first.
func latestEntries[T any](ctx context.Context, r *Task, prefix string, n int) ([]T, error) {
	entries, err := r.Ledger.LatestEntries(ctx, r.ID, prefix, n)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(entries))
	for i, entry := range entries {
		if err := json.Unmarshal(entry.Value, &list[len(entries)-1-i]); err != nil {
			return nil, event.Tampered(r.ID, "%s cannot be read: %w", entry.Key, err)
		}
	}
	return list, nil
}
