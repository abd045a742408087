package ledger

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a page, which one read transaction fetches. There is no lock between two
// pages, so a slow reader never blocks a writer, and a loop's body can use the ledger.
const (
	pageRows  = 256
	pageBytes = 1 << 20
)

// Head is a task's last event and the fold of all of its events. A task without events
// has the zero Head.
type Head struct {
	Task string `json:"task"`
	// N is the number of the last event, and so of the task's events.
	N int64 `json:"n"`
	// Hash is the hash of the last event.
	Hash string `json:"hash"`
	// State is a copy that the caller owns. It is nil in a Report.
	State jsontext.Value `json:"state,omitzero"`
}

// Head returns a task's head by one key look-up, or the zero Head for an unknown task.
func (l *Ledger) Head(ctx context.Context, task string) (Head, error) {
	var head Head
	err := l.read(ctx, func(tx *sql.Tx) (err error) {
		head, err = readHead(ctx, tx, task)
		return err
	})
	return head, err
}

// Heads yields every task's head in the byte order of their ids. It ends after the first
// error, which it yields with a zero Head. Tasks that change meanwhile appear as they
// were before or after the change.
func (l *Ledger) Heads(ctx context.Context) iter.Seq2[Head, error] {
	return pages(ctx, l, "SELECT task, n, head, state FROM tasks WHERE task > ? ORDER BY task LIMIT ?", nil, "",
		func(h *Head) []any { return []any{&h.Task, &h.N, &h.Hash, (*[]byte)(&h.State)} },
		func(h Head) (any, int) { return h.Task, len(h.State) })
}

// Events yields a task's events from the given N on, oldest first; 1 yields all. With kinds,
// it yields only events of these kinds, and does not read the bodies of others. It ends
// after the first error, which it yields with a zero Event. It does not check the chain;
// see Verify and Event.Sum.
func (l *Ledger) Events(ctx context.Context, task string, from int64, kinds ...string) iter.Seq2[Event, error] {
	where, args := "WHERE task = ?", []any{task}
	if len(kinds) > 0 {
		where += " AND kind IN (" + placeholders("?", len(kinds)) + ")"
		for _, kind := range kinds {
			args = append(args, kind)
		}
	}
	return l.events(ctx, where+" AND n > ? ORDER BY n LIMIT ?", args, max(from, 1)-1, func(e Event) int64 { return e.N })
}

// Event returns one event of a task by one key look-up, or the zero Event.
func (l *Ledger) Event(ctx context.Context, task string, n int64) (Event, error) {
	var e Event
	err := l.read(ctx, func(tx *sql.Tx) error {
		e = Event{}
		_, err := queryRow(ctx, tx, e.columns(), selectEvents+"WHERE task = ? AND n = ?", task, n)
		if err == nil {
			e.Body, err = l.archive().body(e.Body)
		}
		return err
	})
	return e, err
}

// EventsSince yields the events of all tasks after the given Seq in the order of their
// recording, like Events; 0 yields all. It includes events that are recorded meanwhile.
func (l *Ledger) EventsSince(ctx context.Context, seq int64) iter.Seq2[Event, error] {
	return l.events(ctx, "WHERE seq > ? ORDER BY seq LIMIT ?", nil, seq, func(e Event) int64 { return e.Seq })
}

// Selection selects events of all tasks.
type Selection struct {
	Kind string
	// Through is the Seq of the last event to look at.
	Through int64
	// Since excludes events before it, by their writer's clock, unless it is the zero time.
	Since time.Time
}

// Select yields the selected events like EventsSince. It does not read other bodies.
func (l *Ledger) Select(ctx context.Context, s Selection) iter.Seq2[Event, error] {
	since := "" // less than any time, also one that was tampered with
	if !s.Since.IsZero() {
		since = s.Since.UTC().Format(TimeFormat)
	}
	if s.Since.UTC().Year() > 9999 {
		since = ":" // It sorts after years of four digits; the text of Since does not.
	}
	return l.events(ctx, "WHERE kind = ? AND seq <= ? AND at >= ? AND seq > ? ORDER BY seq LIMIT ?", []any{s.Kind, s.Through, since}, 0,
		func(e Event) int64 { return e.Seq })
}

// events yields the selected events by pages. The next page begins after the key of the
// last event.
func (l *Ledger) events(ctx context.Context, where string, args []any, from int64, key func(Event) int64) iter.Seq2[Event, error] {
	stored := pages(ctx, l, selectEvents+where, args, from, (*Event).columns, func(e Event) (any, int) { return key(e), len(e.Body) })
	archive := l.archive()
	return func(yield func(Event, error) bool) {
		for e, err := range stored {
			if err == nil {
				e.Body, err = archive.body(e.Body)
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Last returns the Seq of the latest event of all tasks, or 0 without events. It costs so
// little that a caller can poll for changes with it.
func (l *Ledger) Last(ctx context.Context) (int64, error) {
	var last int64
	err := l.read(ctx, func(tx *sql.Tx) (err error) {
		last, err = queryInt(ctx, tx, selectLast)
		return err
	})
	return last, err
}

const selectLast = "SELECT coalesce(max(seq), 0) FROM events"

const selectEvents = "SELECT seq, task, n, at, kind, body, prev, hash FROM events "

// columns returns the scan destinations of selectEvents.
func (e *Event) columns() []any {
	return []any{&e.Seq, &e.Task, &e.N, &e.At, &e.Kind, (*[]byte)(&e.Body), &e.Prev, &e.Hash}
}

func readHead(ctx context.Context, tx *sql.Tx, task string) (Head, error) {
	h := Head{Task: task}
	found, err := queryRow(ctx, tx, []any{&h.N, &h.Hash, (*[]byte)(&h.State)},
		"SELECT n, head, state FROM tasks WHERE task = ?", task)
	if err != nil || !found {
		return Head{}, err
	}
	if h.N < 1 { // Callers take 0 for a task without events.
		return Head{}, corrupt("the head of task %s is event %d", task, h.N)
	}
	return h, nil
}

// read runs f in a read transaction. Without a ledger it does not run f.
func (l *Ledger) read(ctx context.Context, f func(*sql.Tx) error) error {
	db, err := l.connectReader(ctx)
	if err != nil || db == nil {
		return err
	}
	return l.retry(ctx, "read", func() error { return inTx(ctx, db, true, f) })
}

// pages yields the rows of a query page by page. The query's last two parameters are the
// key before the page, which is from for the first page, and the maximum number of rows.
// columns returns the scan destinations of a row, and measure its key and its size.
func pages[T any](ctx context.Context, l *Ledger, query string, args []any, from any,
	columns func(*T) []any, measure func(T) (key any, size int),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		next, more := from, true
		for more {
			var page []T
			var end any
			err := l.read(ctx, func(tx *sql.Tx) error {
				page, end, more = nil, next, false
				rows, err := tx.QueryContext(ctx, query, append(args[:len(args):len(args)], next, pageRows)...)
				if err != nil {
					return err
				}
				defer rows.Close()
				bytes := 0
				for rows.Next() {
					var item T
					if err := scanRow(rows, columns(&item)...); err != nil {
						return err
					}
					var size int
					end, size = measure(item)
					page, bytes = append(page, item), bytes+size
					if more = len(page) == pageRows || bytes >= pageBytes; more {
						break
					}
				}
				return rows.Err()
			})
			if err != nil {
				yield(zero, err)
				return
			}
			next = end
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}
