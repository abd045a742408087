package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// create makes the state directory and a ledger with the given events. It returns false if
// another process was faster: then the events still have to be appended.
//
// The database is built under a temporary name and then linked to its final name, which
// fails if that exists. So no process sees half a ledger, creators need no lock, and the
// first event of a project needs four syncs instead of eight.
func (l *Ledger) create(ctx context.Context, events []Event, batches []Batch) (bool, error) {
	dir, err := safefile.OpenState(l.dir)
	if err != nil {
		return false, unusable(l.dir, err)
	}
	defer dir.Close()
	if file, err := inspect(l.dir); err != nil || file != nil {
		return false, err
	}
	f, err := os.CreateTemp(l.dir, fileName+".new-*") // mode 0600, which its log will inherit
	if err != nil {
		return false, unwritable(l.dir, err)
	}
	draft := f.Name()
	defer os.Remove(draft)
	defer f.Close()
	file, err := f.Stat()
	if err != nil {
		return false, unwritable(draft, err)
	}
	name := source(draft, "_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)")
	if err := l.build(ctx, name, events, batches); err != nil {
		return false, translate(ctx, "create", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return false, unwritable(draft, err)
	}
	if err := os.Link(draft, l.path); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, unwritable(l.path, err)
	}
	l.mu.Lock()
	l.file = file
	l.mu.Unlock()
	// The directory may be as new as the database.
	parent, err := os.OpenRoot(filepath.Dir(l.dir))
	if err == nil {
		err = errors.Join(safefile.SyncDir(dir, "."), safefile.SyncDir(parent, "."), parent.Close())
	}
	if err != nil {
		return true, unwritable(l.dir, err)
	}
	return true, nil
}

// build fills an empty database, which name opens. No other process knows it yet, so it
// needs no journal, and the caller syncs it.
func (l *Ledger) build(ctx context.Context, name string, events []Event, batches []Batch) (err error) {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := inTx(ctx, db, false, func(tx *sql.Tx) error {
		if err := migrate(ctx, tx, l.versions, 0, l.fold, l.archive()); err != nil {
			return err
		}
		return l.record(ctx, tx, events, batches)
	}); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}
