package ledger

import "context"

// WithLock runs f, once, while no process can write to the ledger, with the head of
// a task at that moment. It is for keeping something outside of the ledger in
// step with a task: what f looks at cannot change before f has returned. Where
// there is no ledger yet, f gets the zero Head, and nothing keeps another process
// from creating one.
//
// All other writers wait meanwhile, and fail after ten seconds, so f must be
// quick. Other processes can read, and so can another Ledger of this one; f must
// not use this Ledger, which would wait for f. The end of ctx ends the waiting
// for the lock, but does not release it while f runs.
//
// # Errors
//
// Whatever f returns, unchanged, and those of Open. f ran unless the error is
// one of the latter.
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
		// A transaction ends with its context, even while f is running.
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
