package ledger

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// Append records one event of a task and folds it into the task's state, both
// or neither, and returns it as recorded. When Append has returned without an
// error, the event survives the end of the process and a loss of power. The
// first event of a project creates the state directory and the ledger; an event
// that is refused creates nothing.
//
// after is the N of the task's last event that the caller knows, 0 for a new
// task. If the task has another one by now, whatever the caller decided may be
// wrong, so Append records nothing and says CodeConflict. at must be a time
// between the years 1 and 9999. body is any JSON value without duplicate names;
// Append neither keeps nor modifies it, and stores it on one line with its
// strings in their plainest form.
//
// # Errors
//
// CodeConflict; CodeInvalid for arguments against the rules above or those of
// Event; whatever the fold returns; and those of Open. An error means that
// nothing was recorded, with one exception: where CodeIO or the end of ctx meets
// the very commit, only looking at the Head tells.
func (l *Ledger) Append(ctx context.Context, task string, after int64, at time.Time, kind string, body []byte) (Event, error) {
	e, err := draft(task, after, at, kind, body)
	if err != nil {
		return Event{}, err
	}
	if l.fold == nil {
		return Event{}, invalid("a ledger without a fold is for reading only")
	}
	db, err := l.connect(ctx)
	if err != nil {
		return Event{}, err
	}
	if db == nil {
		e.Seq = 1
		if _, err := l.extend(Head{}, &e); err != nil {
			return Event{}, translate(ctx, "append to", err)
		}
		created, err := l.create(ctx, &e)
		if err != nil {
			return Event{}, err
		}
		if created {
			return e, nil
		}
		if db, err = l.connect(ctx); err != nil {
			return Event{}, err
		}
		if db == nil {
			return Event{}, unsafePath(l.path, "was removed while it was created")
		}
	}
	if err := l.retry(ctx, "append to", func() error { return l.insert(ctx, db, &e) }); err != nil {
		return Event{}, err
	}
	return e, nil
}

// insert appends e in one transaction that may write from its first moment on.
func (l *Ledger) insert(ctx context.Context, db *sql.DB, e *Event) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := l.record(ctx, tx, e); err != nil {
		return err
	}
	return tx.Commit()
}

// record puts e and the state after it into tx, unless it is refused.
func (l *Ledger) record(ctx context.Context, tx *sql.Tx, e *Event) error {
	// A newer program may have changed the schema since this one connected.
	if _, err := userVersion(ctx, tx, l.versions); err != nil {
		return err
	}
	head, err := readHead(ctx, tx, e.Task)
	if err != nil {
		return err
	}
	last, err := number(ctx, tx, "SELECT coalesce(max(seq), 0) FROM events")
	if err != nil {
		return err
	}
	if last < 0 || last == math.MaxInt64 {
		return corrupt("its last event has number %d", last)
	}
	e.Seq = last + 1
	state, err := l.extend(head, e)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx,
		"INSERT INTO events (seq, task, n, at, kind, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		e.Seq, e.Task, e.N, e.At, e.Kind, string(e.Body), e.Prev, e.Hash); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx,
		"INSERT INTO tasks (task, n, head, state) VALUES (?, ?, ?, ?)"+
			" ON CONFLICT (task) DO UPDATE SET n = excluded.n, head = excluded.head, state = excluded.state",
		e.Task, e.N, e.Hash, string(state))
	return err
}

// extend puts e at the end of the chain that head is the head of, and returns
// the state after it.
func (l *Ledger) extend(head Head, e *Event) ([]byte, error) {
	if head.N != e.N-1 {
		return nil, fault.New(CodeConflict, "task %s is at event %d, not %d", e.Task, head.N, e.N-1).
			With("task", e.Task).With("expected", e.N-1).With("actual", head.N)
	}
	e.Prev = head.Hash
	if head.N == 0 {
		e.Prev = Genesis
	}
	e.Hash = e.Sum()
	state, err := l.fold(head.State, *e)
	if err != nil {
		return nil, refusal{err}
	}
	if len(state) > MaxBody {
		return nil, invalid("the fold's state has %d bytes, more than %d", len(state), MaxBody)
	}
	if !jsontext.Value(state).IsValid() {
		return nil, invalid("the fold's state is not JSON")
	}
	return state, nil
}
