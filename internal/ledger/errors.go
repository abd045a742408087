package ledger

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/retry"
)

func unsafePath(path, why string) *errs.Error {
	return errs.New(errs.StateUnsafe, "%s %s", path, why).With("path", path)
}

// replaced returns the error of a database that is not the one that was opened. What is there
// now, if anything, may be the only record, so nothing must be removed.
func replaced(path string) error {
	return unsafePath(path, "was removed or replaced while it was in use").
		WithHint("put all of .switchyard back as it was, with ledger.db-wal, then run the command again; drafts that are not committed are in the worktrees of their tasks, which git worktree list shows")
}

// unwritable returns the error of a failed file operation. A full or failing disk has its
// own code, because its remedy is not a permission.
func unwritable(path string, err error) error {
	code := errs.StateUnwritable
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) {
		code = errs.LedgerIO
	}
	return errs.New(code, "the ledger's state is out of reach: %w", err).With("path", path)
}

func corrupt(format string, args ...any) error {
	return errs.New(errs.LedgerCorrupt, "the ledger is not sound: %w", fmt.Errorf(format, args...))
}

func invalid(format string, args ...any) error {
	return errs.New(errs.LedgerInvalid, "%w", fmt.Errorf(format, args...))
}

// foldError carries an error of the caller's function through retry and translate.
type foldError struct{ error }

// isBusy reports whether another process holds a lock. SQLite returns some of these errors
// without waiting: during the recovery of a log, during a checkpoint by another process, and
// for a stale snapshot.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && codeOf(e.Code()&0xff) == errs.LedgerBusy || errs.CodeOf(err) == errs.LedgerBusy
}

// translate gives an error of the database its code. It does not change errors with a code
// and errors of the caller's function.
func translate(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if r, ok := errors.AsType[foldError](err); ok {
		return r.error
	}
	if errs.CodeOf(err) != "" {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s the ledger: %w", op, context.Cause(ctx))
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return fmt.Errorf("%s the ledger: %w", op, err)
	}
	return errs.New(codeOf(e.Code()&0xff), "%s the ledger: %w", op, err).With("sqlite_code", e.Code())
}

// codeOf returns the code for a primary result code of SQLite. Our statements work on a
// sound database, so any other result means that it is damaged.
func codeOf(result int) errs.Code {
	switch result {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return errs.LedgerBusy
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return errs.StateUnwritable
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_NOLFS:
		return errs.LedgerIO
	default:
		return errs.LedgerCorrupt
	}
}

// waitSlice is the time that SQLite itself waits for a lock, in milliseconds. It is short
// because SQLite does not notice a cancelled context while it waits.
const waitSlice = "100"

// retry runs f until it succeeds, it fails for another reason than a lock, the ledger's
// busy time is over, or ctx ends. f must have no effect if it fails. The error is
// translated.
func (l *Ledger) retry(ctx context.Context, op string, f func() error) error {
	limited, cancel := context.WithTimeout(ctx, l.busy)
	defer cancel()
	var err error
	for range (retry.Backoff{First: 2 * time.Millisecond, Max: 8 * time.Millisecond}).Attempts(limited) {
		if err = f(); !isBusy(err) {
			break
		}
	}
	return translate(ctx, op, err)
}
