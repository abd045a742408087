package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"slices"
)

// rebuild replaces all entries and sums by those that the fold of all events gives,
// reading them as Verify does, task by task. Where an event is refused or is none, its
// task keeps its entries, and counts as far as that event: such a task shall not keep
// anybody from the others, and Verify says what is wrong with it.
func rebuild(ctx context.Context, tx *sql.Tx, fold Fold) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM tallies"); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, selectEvents+"ORDER BY task, n")
	if err != nil {
		return err
	}
	defer rows.Close()
	all := rebuilder{ctx: ctx, tx: tx, fold: fold, sums: newAccumulator()}
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return err
		}
		if e.Task != all.task {
			if err := all.finish(); err != nil {
				return err
			}
			all.task, all.state, all.broken = e.Task, memState{}, false
		}
		all.event(e)
		// A fold may have taken the end of ctx for something that is wrong with its
		// event.
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := all.finish(); err != nil {
		return err
	}
	return addRows(ctx, tx, all.sums.rows(nil, all.sums.caps))
}

// rebuilder is one walk over all events.
type rebuilder struct {
	ctx  context.Context
	tx   *sql.Tx
	fold Fold
	sums *accumulator

	task   string // whose events are read, "" at first
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

// finish writes the entries of the task whose events were read that are not as they
// are due.
func (r *rebuilder) finish() error {
	if r.task == "" || r.broken {
		return nil
	}
	due := maps.Clone(r.state.entries)
	var stale []string
	rows, err := r.tx.QueryContext(r.ctx, "SELECT key, value FROM entries WHERE task = ? ORDER BY key", r.task)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value sql.RawBytes
		if err := scanRow(rows, &key, &value); err != nil {
			return err
		}
		if want, ok := due[key]; !ok {
			stale = append(stale, key)
		} else if bytes.Equal(value, want) {
			delete(due, key)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	task := dbView{ctx: r.ctx, tx: r.tx, task: r.task}
	var changes []Entry
	for _, key := range stale {
		changes = append(changes, Entry{Key: key})
	}
	for _, key := range slices.Sorted(maps.Keys(due)) {
		changes = append(changes, Entry{Key: key, Value: due[key]})
	}
	return task.change(changes)
}
