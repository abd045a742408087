package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// create makes the state directory and a ledger with the given events, and reports
// whether it did. If another process was faster, the events still have to be appended.
//
// The database is built under a temporary name and then linked to its place, which fails
// if there is one. So no process sees half a ledger, creators need no lock, and the
// first event of a project needs four syncs instead of eight.
func (l *Ledger) create(ctx context.Context, events []Event) (bool, error) {
	if err := makeDir(l.dir); err != nil {
		return false, err
	}
	if file, err := inspect(l.dir); err != nil || file != nil {
		return false, err
	}
	f, err := os.CreateTemp(l.dir, fileName+".new-*") // mode 0600, which its log will inherit
	if err != nil {
		return false, unwritable(l.dir, err)
	}
	draft := f.Name()
	defer os.Remove(draft)
	file, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return false, unwritable(draft, err)
	}
	if err := l.build(ctx, draft, events); err != nil {
		return false, translate(ctx, "create", err)
	}
	if err := flushFile(draft); err != nil {
		return false, err
	}
	if err := os.Link(draft, l.path); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, unwritable(l.path, err)
	}
	l.mu.Lock()
	l.file = file
	l.mu.Unlock()
	return true, errors.Join(flushDir(l.dir), flushDir(filepath.Dir(l.dir)))
}

// build makes a database of the empty file at path. No other process knows the file yet,
// so it needs no journal, and the caller syncs it.
func (l *Ledger) build(ctx context.Context, path string, events []Event) (err error) {
	db, err := sql.Open("sqlite", source(path, "_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := migrate(ctx, tx, l.versions, 0, l.fold); err != nil {
		return err
	}
	if err := l.record(ctx, tx, events); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}
