package ledger

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// NewEvent is an event to record.
type NewEvent struct {
	Kind string
	// Body is any JSON value without duplicate names. The ledger does not modify it. It
	// stores it on one line, with canonical strings and hidden characters escaped.
	Body []byte
}

// Batch is the events to record for one task.
type Batch struct {
	Task string
	// After is the N of the task's last event as the caller knows it, 0 for a new task.
	After int64
	// Events may be empty if another batch has some: the batch then only requires that
	// the task is at After.
	Events []NewEvent
}

// AppendAll records the events of all batches in their order, in one transaction. It folds
// each event into its task's state and entries and adds its changes to the counters. It
// returns the recorded events, which then survive a crash and a power loss. The first
// events of a project create the ledger, unless they are refused.
//
// If a task is not at its batch's After any more, the caller's decision may be wrong, so
// the error is ledger-conflict. at must be between the years 1 and 9999.
//
// # Errors
//
// ledger-conflict; ledger-invalid for arguments that break the rules above or the rules of
// Event, batches without any event, two batches of one task, and a fold that breaks the
// rules of Projection; the error of the fold; and the errors of Open. After an error, no
// event is recorded, but after ledger-io or the end of ctx during the commit only the Head
// can tell.
func (l *Ledger) AppendAll(ctx context.Context, at time.Time, batches ...Batch) ([]Event, error) {
	events, err := eventsOf(at, batches)
	if err != nil {
		return nil, err
	}
	if l.fold == nil {
		return nil, invalid("a ledger without a fold is for reading only")
	}
	db, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if db == nil {
		// Refused events must not create a ledger, so try them in memory first.
		if err := l.build(ctx, ":memory:", events, batches); err != nil {
			return nil, translate(ctx, "append to", err)
		}
		created, err := l.create(ctx, events, batches)
		if err != nil {
			return nil, err
		}
		if created {
			return events, nil
		}
		if db, err = l.connect(ctx); err != nil {
			return nil, err
		}
		if db == nil {
			return nil, unsafePath(l.path, "was removed while it was created")
		}
	}
	if err := l.retry(ctx, "append to", func() error { return l.insert(ctx, db, events, batches) }); err != nil {
		return nil, err
	}
	return events, nil
}

// insert appends the events of batches in one write transaction.
func (l *Ledger) insert(ctx context.Context, db *sql.DB, events []Event, batches []Batch) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := l.prepareLog(ctx, conn); err != nil {
		return err
	}
	return inTx(ctx, conn, false, func(tx *sql.Tx) error { return l.record(ctx, tx, events, batches) })
}

// record writes the events of batches, at least one, and their projections.
func (l *Ledger) record(ctx context.Context, tx *sql.Tx, events []Event, batches []Batch) error {
	// A newer program may have changed the schema since this one connected.
	if _, err := userVersion(ctx, tx, l.versions); err != nil {
		return err
	}
	last, err := queryInt(ctx, tx, selectLast)
	if err != nil {
		return err
	}
	if last < 0 || last > math.MaxInt64-int64(len(events)) {
		return corrupt("its last event has number %d", last)
	}
	insert, err := tx.PrepareContext(ctx,
		"INSERT INTO events (seq, task, n, at, kind, body, prev, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	sums := newAccumulator()
	for _, b := range batches {
		if err := l.recordBatch(ctx, tx, insert, last, b, events[:len(b.Events)], sums); err != nil {
			return err
		}
		events = events[len(b.Events):]
		last += int64(len(b.Events))
	}
	return writeCounters(ctx, tx, sums)
}

// recordBatch is record for one task. last is the Seq before its events. It adds their
// changes to sums.
func (l *Ledger) recordBatch(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, last int64, b Batch, events []Event, sums *accumulator) error {
	head, err := readHead(ctx, tx, b.Task)
	if err != nil {
		return err
	}
	if head.N != b.After {
		return errs.New(errs.LedgerConflict, "task %s is at event %d, not %d", b.Task, head.N, b.After).
			With("task", b.Task).With("expected", b.After).With("actual", head.N)
	}
	if len(events) == 0 {
		return nil
	}
	if head.N == 0 {
		head.Hash = Genesis
	}
	task := taskTx{ctx, tx, b.Task}
	for i := range events {
		e := &events[i]
		e.Seq, e.Prev = last+int64(i)+1, head.Hash
		e.Hash = e.Sum()
		next, err := project(l.fold, &View{State: head.State, load: task.entries}, *e)
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, e.Seq, e.Task, e.N, e.At, e.Kind, string(e.Body), e.Prev, e.Hash); err != nil {
			return err
		}
		head.N, head.Hash, head.State = e.N, e.Hash, next.State
		if err := task.change(next.Entries); err != nil {
			return err
		}
		sums.add(e, next.Changes)
	}
	_, err = tx.ExecContext(ctx,
		"INSERT INTO tasks (task, n, head, state) VALUES (?, ?, ?, ?)"+
			" ON CONFLICT (task) DO UPDATE SET n = excluded.n, head = excluded.head, state = excluded.state",
		b.Task, head.N, head.Hash, string(head.State))
	return err
}

// WithLock runs f with the current head of a task while no process can write to the
// ledger, so that f can keep a file outside of the ledger in step with the task. Without a
// ledger f gets the zero Head, and another process may create one meanwhile.
//
// Other writers wait, and fail after ten seconds, so f must be quick. f can read other
// Ledgers; using this one would deadlock. ctx limits the time to wait for the lock, not f.
//
// # Errors
//
// The error of f, unchanged, or an error of Open if f did not run.
func (l *Ledger) WithLock(ctx context.Context, task string, f func(Head) error) error {
	db, err := l.connect(ctx)
	if err != nil {
		return err
	}
	if db == nil {
		return f(Head{})
	}
	return l.retry(ctx, "lock", func() error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		// A transaction ends with its context, even while f runs.
		return inTx(context.WithoutCancel(ctx), conn, false, func(tx *sql.Tx) error {
			head, err := readHead(ctx, tx, task)
			if err != nil {
				return err
			}
			if err := f(head); err != nil {
				return foldError{err}
			}
			return nil
		})
	})
}
