package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// readerPragmas are those of a connection that must not change anything.
const readerPragmas = pragmas + "&_pragma=query_only(ON)"

// OpenFile returns the ledger in the database at path, which may be another
// project's, for reading. Nothing in it is changed: one of an older schema is read
// as it is, where Open would bring it to the newest. SQLite does beside it what every
// reader of a write-ahead log has to do, and the last to leave writes the log into
// the database.
//
// # Errors
//
// Those of Open; and state-unwritable where there is nothing at path.
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

// inspectFile looks at a database and the files beside it without following links,
// and returns the database's file, or nil where there is none.
func inspectFile(path string) (os.FileInfo, error) {
	file, err := lstatRegular(path)
	if err != nil || file == nil {
		return nil, err
	}
	os.SameFile(file, file) // Windows looks a file's identity up when it is first asked for.
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := lstatRegular(path + suffix); err != nil {
			return nil, err
		}
	}
	// A ledger has a write-ahead log from its first moment on, so nobody but an
	// attacker leaves a rollback journal, whose text can make SQLite delete
	// another file.
	journal := path + "-journal"
	if _, err := os.Lstat(journal); !errors.Is(err, fs.ErrNotExist) {
		return nil, unsafePath(journal, "does not belong to a ledger")
	}
	return file, nil
}
