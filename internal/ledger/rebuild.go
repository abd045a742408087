package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// replay folds all recorded events again, task by task.
type replay struct {
	fold    Fold
	archive archive
	sums    *accumulator // the counters of all events

	last    Event    // the previous event; before the first one of a task, N is 0 and Hash is Genesis
	task    memState // the fold of the task's events so far
	refused bool     // an event of the task was refused, so task is not valid
}

// run calls event for every event that where selects, before the event becomes last, and
// finish after the last event of a task. The bodies are valid only during the call. A body
// that the archive lacks is still a reference.
func (r *replay) run(ctx context.Context, tx *sql.Tx, event func(Event), finish func() error, where string, args ...any) error {
	begun := false
	var e Event
	columns := []any{&e.Seq, &e.Task, &e.N, &e.At, &e.Kind, (*sql.RawBytes)(&e.Body), &e.Prev, &e.Hash}
	err := eachRow(ctx, tx, columns, func() error {
		if begun && e.Task != r.last.Task {
			if err := finish(); err != nil {
				return err
			}
		}
		if !begun || e.Task != r.last.Task {
			r.last, r.task, r.refused = Event{Task: e.Task, Hash: Genesis}, memState{}, false
		}
		begun = true
		if body, err := r.archive.body(e.Body); err == nil {
			e.Body = body
		}
		event(e)
		r.last = e
		return ctx.Err() // The fold may have failed because ctx is done.
	}, "SELECT seq, task, n, at, kind, CAST(body AS BLOB), prev, hash FROM events "+where+"ORDER BY task, n", args...) // A blob is not copied.
	if err != nil || !begun {
		return err
	}
	return finish()
}

// add folds and counts an event, unless an earlier event of its task was refused. It
// reports whether the fold parsed the body.
func (r *replay) add(e Event) (parsed bool, err error) {
	if r.fold == nil || r.refused {
		return false, nil
	}
	next, err := project(r.fold, r.task.view(), e)
	if err != nil {
		r.refused = true
		return false, err
	}
	r.sums.add(&e, next.Changes)
	r.task.apply(next)
	return next.Parsed, nil
}

// rebuild recomputes all entries and counters from the events, task by task. If an event
// is malformed or the fold refuses it, its task keeps its entries, and only its earlier
// events are counted: such a task must not block the others, and Verify reports it.
func rebuild(ctx context.Context, tx *sql.Tx, fold Fold, from archive) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM tallies"); err != nil {
		return err
	}
	r := replay{fold: fold, archive: from, sums: newAccumulator()}
	var lacking error
	err := r.run(ctx, tx, func(e Event) {
		if isReference(e.Body) {
			lacking = from.damaged(fmt.Errorf("it lacks event %d", e.Seq))
		}
		if r.refused = r.refused || e.checkForm() != nil; !r.refused {
			_, _ = r.add(e)
		}
	}, func() error {
		if r.refused {
			return nil
		}
		return taskTx{ctx, tx, r.last.Task}.replace(r.task.entries)
	}, "")
	if err := errors.Join(lacking, err); err != nil {
		return err
	}
	return addRows(ctx, tx, r.sums.rows(nil, nil))
}
