package ledger

import "context"

// WithLock runs f with the current head of a task while no process can write to the
// ledger. It keeps a file outside of the ledger in step with a task. Without a ledger f
// gets the zero Head, and another process may create one meanwhile.
//
// Other writers wait, and fail after ten seconds, so f must be quick. Other Ledgers can
// be read; f must not use this one, which would deadlock. ctx limits the waiting for the
// lock, not f.
//
// # Errors
//
// The error of f, unchanged, and those of Open, if f did not run.
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
		tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		head, err := readHead(ctx, tx, task)
		if err != nil {
			return err
		}
		if err := f(head); err != nil {
			return foldError{err}
		}
		return nil
	})
}
