package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"
)

// rebuild recomputes all entries and counters from the events, task by task. If an event
// is malformed or the fold refuses it, its task keeps its entries and counts up to that
// event: one such task must not block the others, and Verify reports it.
func rebuild(ctx context.Context, tx *sql.Tx, fold Fold) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM tallies"); err != nil {
		return err
	}
	r := rebuilder{ctx: ctx, tx: tx, fold: fold, sums: newAccumulator()}
	err := eachRow(ctx, tx, func(rows *sql.Rows) error {
		e, err := scanEvent(rows)
		if err != nil {
			return err
		}
		if e.Task != r.task {
			if err := r.finish(); err != nil {
				return err
			}
			r.task, r.state, r.broken = e.Task, memState{}, false
		}
		r.event(e)
		return ctx.Err() // The fold may have failed because ctx is done.
	}, selectEvents+"ORDER BY task, n")
	if err != nil {
		return err
	}
	if err := r.finish(); err != nil {
		return err
	}
	return addRows(ctx, tx, r.sums.rows(nil, r.sums.caps))
}

// rebuilder is the state of a rebuild.
type rebuilder struct {
	ctx  context.Context
	tx   *sql.Tx
	fold Fold
	sums *accumulator

	task   string // the task being read, "" at first
	state  memState
	broken bool
}

// event folds and counts the task's next event.
func (r *rebuilder) event(e Event) {
	if r.broken = r.broken || e.checkForm() != nil; r.broken {
		return
	}
	next, err := project(r.fold, &r.state, e)
	if err == nil {
		err = r.sums.add(&e, next.Changes)
	}
	if r.broken = err != nil; !r.broken {
		r.state.apply(next)
	}
}

// finish writes those entries of the task that differ from the stored ones.
func (r *rebuilder) finish() error {
	if r.task == "" || r.broken {
		return nil
	}
	due := maps.Clone(r.state.entries)
	var changes []Entry
	err := eachRow(r.ctx, r.tx, func(rows *sql.Rows) error {
		var key string
		var value sql.RawBytes
		if err := scanRow(rows, &key, &value); err != nil {
			return err
		}
		if want, ok := due[key]; !ok {
			changes = append(changes, Entry{Key: key})
		} else if bytes.Equal(value, want) {
			delete(due, key)
		}
		return nil
	}, "SELECT key, value FROM entries WHERE task = ? ORDER BY key", r.task)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(due)) {
		changes = append(changes, Entry{Key: key, Value: due[key]})
	}
	return (&dbView{ctx: r.ctx, tx: r.tx, task: r.task}).change(changes)
}
