// Package ledger is the event store of a project: the decisions about every task, in
// order, each event chained to the one before it.
//
// Bodies of events are opaque JSON. A Fold that the caller passes turns a task's events
// into its state, a small document, and its entries, any number of keyed values. It also
// returns the changes of each event to the counters of all tasks. State, entries and
// counters are stored in the event's own transaction, so the cost of reading them does not
// grow with the history (ADR-0018).
//
// Everything is in one SQLite database, ledger.db, in the project's state directory,
// which any number of processes may use at once. Reading never creates it; the first
// AppendAll creates it completely or not at all. A database may come with a repository and
// is not trusted: it is refused unless its schema is exactly ours. See ADR-0008 for the
// reasons and docs/ledger.md for the format.
package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// busyTime is the time that an operation waits for other processes before it fails with
// ledger-busy. A context can make it shorter.
const busyTime = 10 * time.Second

// Ledger is a project's ledger, which may not exist on disk yet. It is safe for concurrent
// use; its operations run one after another, except that lent ledgers are read
// concurrently. It must be closed.
type Ledger struct {
	dir      string
	path     string
	fold     Fold
	versions []version
	busy     time.Duration
	owner    *Ledger // has the database of a lent ledger, nil for others

	mu      sync.Mutex  // guards the fields below
	file    os.FileInfo // the database, nil until it was found or created
	db      *sql.DB     // open on file, nil until needed
	readers *sql.DB     // connections on file for lent ledgers, nil until needed
	closed  bool
}

// Open returns the ledger in the state directory dir, usually ".switchyard" in the
// project's root. It does not create the database: without one the ledger is empty, and
// every later use looks again. An older schema is migrated in one transaction.
//
// With a nil fold the ledger is read-only: AppendAll is refused, Verify does not check
// states, entries and counters, and an older schema stays.
//
// # Errors
//
// state-unsafe, state-unwritable, ledger-corrupt, ledger-newer, ledger-busy and
// ledger-io. All other methods may return them too, because the database may appear, be
// replaced or break at any time. If ctx ends first, the error wraps its cause.
func Open(ctx context.Context, dir string, fold Fold) (*Ledger, error) {
	return open(ctx, dir, fold, released(), busyTime)
}

func open(ctx context.Context, dir string, fold Fold, versions []version, busy time.Duration) (*Ledger, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	l := &Ledger{
		dir:      abs,
		path:     filepath.Join(abs, fileName),
		fold:     fold,
		versions: versions,
		busy:     busy,
	}
	if _, err := l.connect(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// OpenFile opens the database at path, which may be another project's, for reading. An
// older schema is read without migration. SQLite may still create the files that readers
// of a write-ahead log need; the last reader removes the files that were created.
//
// # Errors
//
// The errors of Open, and state-unwritable if path does not exist.
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
	l := &Ledger{dir: filepath.Dir(path), path: path, versions: released(), busy: busyTime}
	if _, err := l.openFile(ctx, file); err != nil {
		return nil, err
	}
	return l, nil
}

// Lend returns a Ledger that uses the database of l until it is closed. It saves the many
// short operations of a process from opening the database. Lent ledgers are read
// concurrently, and wait for each other's writes without polling the database's lock.
func (l *Ledger) Lend() *Ledger {
	return &Ledger{dir: l.dir, path: l.path, fold: l.fold, versions: l.versions, busy: l.busy, owner: l}
}

// Close releases the database. The log stays for the next command. Closing again has no
// effect.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.db == nil {
		return nil
	}
	err := l.db.Close()
	if l.readers != nil {
		err = errors.Join(l.readers.Close(), err)
	}
	l.db, l.readers = nil, nil
	return translate(context.Background(), "close", err)
}

func (l *Ledger) connectReader(ctx context.Context) (*sql.DB, error) {
	db, err := l.connect(ctx)
	if err != nil || db == nil || l.owner == nil {
		return db, err
	}
	l.owner.mu.Lock()
	defer l.owner.mu.Unlock()
	if l.owner.readers == nil && !l.owner.closed {
		readers, err := sql.Open("sqlite", connection(l.path, true))
		if err != nil {
			return nil, translate(ctx, "open", err)
		}
		readers.SetMaxOpenConns(runtime.GOMAXPROCS(0))
		readers.SetMaxIdleConns(runtime.GOMAXPROCS(0))
		l.owner.readers = readers
	}
	return cmp.Or(l.owner.readers, db), nil
}

// connect returns the open database, or nil if it does not exist yet. It checks the file
// every time: a write to a database that was removed or replaced would be lost.
func (l *Ledger) connect(ctx context.Context) (*sql.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("use the ledger: %w", os.ErrClosed)
	}
	if l.owner != nil {
		return l.owner.connect(ctx)
	}
	if l.file != nil {
		if err := l.sameFile(l.file); err != nil {
			return nil, err
		}
	}
	if l.db != nil {
		return l.db, nil
	}
	file, err := inspect(l.dir)
	if err != nil || file == nil {
		return nil, err
	}
	return l.openFile(ctx, file)
}

func (l *Ledger) openFile(ctx context.Context, file os.FileInfo) (*sql.DB, error) {
	db, err := sql.Open("sqlite", connection(l.path, l.fold == nil))
	if err != nil {
		return nil, translate(ctx, "open", err)
	}
	db.SetMaxOpenConns(1)
	err = l.retry(ctx, "open", func() error { return upgrade(ctx, db, l.versions, l.fold, l.archive()) })
	if err == nil {
		err = l.sameFile(file)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	l.db, l.file = db, file
	return db, nil
}

// sameFile fails unless the database's path still leads to file.
func (l *Ledger) sameFile(file os.FileInfo) error {
	now, err := os.Lstat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unwritable(l.path, err)
	}
	if err != nil || !os.SameFile(file, now) {
		return replaced(l.path)
	}
	return nil
}
