package round

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

// taskRecord is what the ledger has about a task.
type taskRecord struct {
	ledger *ledger.Ledger
	id     string
	// head and status are those of the latest load.
	head   ledger.Head
	status storedStatus
}

// openTask opens the ledger to read about a task, and reads nothing. The caller must close
// the result, also after an error.
func (e *Engine) openTask(ctx context.Context, id string) (*taskRecord, error) {
	r := &taskRecord{id: id}
	if err := task.CheckID(id); err != nil {
		return r, err
	}
	var err error
	r.ledger, err = e.openLedger(ctx)
	return r, err
}

// readTask opens a task and reads its status. The caller must close the result, also after
// an error.
//
// # Errors
//
// task-not-found if the ledger has no such task.
func (e *Engine) readTask(ctx context.Context, id string) (*taskRecord, error) {
	r, err := e.openTask(ctx, id)
	if err == nil {
		err = r.load(ctx)
	}
	switch {
	case err != nil:
	case r.head.N == 0:
		err = errTaskNotFound(id)
	case r.status.Status == task.NoTask:
		err = errTampered(id, "its events make no task")
	}
	return r, err
}

func (r *taskRecord) close() {
	if r.ledger != nil {
		_ = r.ledger.Close() // All changes were committed before.
	}
}

// load reads the task's head and status. A task without events has no status.
func (r *taskRecord) load(ctx context.Context) error {
	head, err := r.ledger.Head(ctx, r.id)
	if err != nil {
		return err
	}
	r.head, r.status = head, storedStatus{TaskStatus: api.TaskStatus{TaskID: r.id}}
	if head.N != 0 {
		r.status, err = status(head)
	}
	return err
}

// recordedEvent is an event with the facts of its body.
type recordedEvent struct {
	event.Facts
	stored ledger.Event
}

// events yields the task's events of some kinds, from number from on. It reads no others.
func (r *taskRecord) events(ctx context.Context, from int64, kinds ...task.Kind) iter.Seq2[recordedEvent, error] {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return func(yield func(recordedEvent, error) bool) {
		for e, err := range r.ledger.Events(ctx, r.id, from, names...) {
			var read recordedEvent
			if err == nil {
				read, err = r.readEvent(e.N, e)
			}
			if !yield(read, err) || err != nil {
				return
			}
		}
	}
}

// spawns yields the records of the agents' runs that ended from event from on. It skips runs
// that were lost with their host.
func (r *taskRecord) spawns(ctx context.Context, from int64) iter.Seq2[outcome.Record, error] {
	return func(yield func(outcome.Record, error) bool) {
		for e, err := range r.events(ctx, from, task.KindSpawnEnded) {
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
func (r *taskRecord) readEvent(n int64, e ledger.Event) (recordedEvent, error) {
	facts, err := event.Decode(e)
	if err != nil {
		err = errTampered(r.id, "event %d cannot be read: %w", n, err)
	}
	return recordedEvent{facts, e}, err
}

// fullEvent returns an event, whose contents are checked.
func (r *taskRecord) fullEvent(ctx context.Context, n int64) (event.Full, error) {
	e, err := r.ledger.Event(ctx, r.id, n)
	if err != nil {
		return event.Full{}, err
	}
	return r.readFull(n, e)
}

// readFull reads the body of event n, and checks the event's hash.
func (r *taskRecord) readFull(n int64, e ledger.Event) (event.Full, error) {
	body, err := event.DecodeFull(e)
	if err == nil && e.Hash != e.Sum() {
		err = fmt.Errorf("its hash is not that of its contents")
	}
	if err != nil {
		return event.Full{}, errTampered(r.id, "event %d: %w", n, err)
	}
	return body, nil
}

// entry returns the task's entry with a key, nil for none.
func entry[T any](ctx context.Context, r *taskRecord, key string) (*T, error) {
	entries, err := r.ledger.Entries(ctx, r.id, []string{key})
	if err != nil || entries[key] == nil {
		return nil, err
	}
	value := new(T)
	if err := json.Unmarshal(entries[key], value); err != nil {
		return nil, errTampered(r.id, "%s cannot be read: %w", key, err)
	}
	return value, nil
}

// listed returns up to n of the latest entries with a prefix, oldest first.
func listed[T any](ctx context.Context, r *taskRecord, prefix string, n int) ([]T, error) {
	entries, err := r.ledger.LatestEntries(ctx, r.id, prefix, n)
	if err != nil {
		return nil, err
	}
	list := make([]T, len(entries))
	for i, entry := range entries {
		if err := json.Unmarshal(entry.Value, &list[len(entries)-1-i]); err != nil {
			return nil, errTampered(r.id, "%s cannot be read: %w", entry.Key, err)
		}
	}
	return list, nil
}
