// Package ledger is the event store of a project: what was decided for every
// task, in order, each event chained to the one before it (design section 5).
//
// It knows nothing of what a task is. An event's body is opaque JSON, and so is
// what the events have made of a task: its state, a small document, and its
// entries, any number of keyed values. Both are the fold of the task's events by
// a function that the caller hands in, and are stored beside them in the same
// transaction, so that reading where a task stands, or one thing of its past,
// costs no more as its history grows. What events count across all tasks is kept in
// the same way, as sums: see Tallies and ADR-0018.
//
// Everything lives in one SQLite database, ledger.db, in the project's state
// directory. Any number of processes may use it at once. Reading never creates
// anything: where there is no ledger yet, reads find nothing, and the first
// Append that is not refused creates it whole or not at all. A database that a
// repository brought along is data to distrust: one whose schema is not exactly
// ours is refused before any of it is used. The reasons are in ADR-0008, the
// format and what its chain can show in docs/ledger.md.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// busyTime is how long an operation waits for other processes before it fails
// with ledger-busy. A caller with less patience gives its context a deadline.
const busyTime = 10 * time.Second

// Ledger is a project's ledger, which may not exist on disk yet. Its methods
// are safe for concurrent use; operations of one Ledger run one after another.
// It must be closed.
type Ledger struct {
	dir      string
	path     string
	fold     Fold
	versions []version
	busy     time.Duration

	mu     sync.Mutex  // guards what follows
	file   os.FileInfo // the database that was found or created, nil until then
	db     *sql.DB     // open on file, nil until needed
	closed bool
}

// Open returns the ledger in the state directory dir, usually ".switchyard"
// under the project's root. It creates nothing: where dir or the database in it
// does not exist, the ledger is empty, and it looks again at every later use. A
// ledger that an older Switchyard made is brought to this one's schema, in one
// transaction; where that has to fold all its events, others wait meanwhile, and an
// event that fold refuses is ledger-corrupt.
//
// A nil fold gives a ledger for reading: Append is refused, Verify leaves the
// states, entries and sums unchecked, and an older schema stays as it is.
//
// # Errors
//
// state-unsafe, state-unwritable, ledger-corrupt, ledger-newer, ledger-busy and ledger-io, each
// as its own comment says. Every other method may return the same ones, since
// the database may appear, be replaced or break at any time. Where ctx ends
// first, the error wraps its cause.
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

// Close releases the database. The last process to close it writes everything
// into ledger.db and removes the files beside it. Closing again does nothing.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.db == nil {
		return nil
	}
	db := l.db
	l.db = nil
	return translate(context.Background(), "close", db.Close())
}

// connect returns the open database, or nil where there is none yet. The file
// is looked at every time: a long command must not write into a database that
// was removed or replaced under it, since that write would be lost.
func (l *Ledger) connect(ctx context.Context) (*sql.DB, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("use the ledger: %w", os.ErrClosed)
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
	db, err := sql.Open("sqlite", connection(l.path, l.fold == nil))
	if err != nil {
		return nil, translate(ctx, "open", err)
	}
	db.SetMaxOpenConns(1)
	err = l.retry(ctx, "open", func() error { return upgrade(ctx, db, l.versions, l.fold) })
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
		return unsafePath(l.path, "was removed or replaced while it was in use")
	}
	return nil
}
