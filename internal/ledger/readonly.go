package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// readerPragmas are for a read-only connection.
const readerPragmas = pragmas + "&_pragma=query_only(ON)"

// OpenFile opens the database at path, which may be another project's, for reading. An
// older schema is read without migration. SQLite may still create the files that readers
// of a write-ahead log need, and the last reader writes the log into the database.
//
// # Errors
//
// Those of Open, and state-unwritable if there is nothing at path.
func OpenFile(ctx context.Context, path string) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, unwritable(path, err)
	}
	file, err := inspectFile(path)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, unwritable(path, fs.ErrNotExist)
	}
	db, err := sql.Open("sqlite", connection(path, true))
	if err != nil {
		return nil, translate(ctx, "open", err)
	}
	db.SetMaxOpenConns(1)
	l := &Ledger{dir: filepath.Dir(path), path: path, versions: released(), busy: busyTime, file: file, db: db}
	err = l.retry(ctx, "open", func() error {
		_, err := inTx(ctx, db, l.versions, &sql.TxOptions{ReadOnly: true}, nil)
		return err
	})
	if err == nil {
		err = l.sameFile(file)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return l, nil
}

// inspectFile checks a database and the files beside it without following links, and
// returns the database's file, or nil if there is none.
func inspectFile(path string) (os.FileInfo, error) {
	file, err := lstatRegular(path)
	if err != nil || file == nil {
		return nil, err
	}
	os.SameFile(file, file) // Windows reads the identity of a file at its first use.
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := lstatRegular(path + suffix); err != nil {
			return nil, err
		}
	}
	// A ledger always has a write-ahead log. Only an attacker leaves a rollback journal,
	// which can make SQLite delete another file.
	journal := path + "-journal"
	if _, err := os.Lstat(journal); !errors.Is(err, fs.ErrNotExist) {
		return nil, unsafePath(journal, "does not belong to a ledger")
	}
	return file, nil
}
