package ledger

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const archiveName = "ledger.archive"

// archive is the path of a file with bodies of events, one after another, each compressed.
// In place of such a body, the database has a reference to its position in the file. Event
// hashes cover the body itself.
type archive string

// reference is the format of a reference: the offset and the length. It is not JSON.
const reference = "archived %d %d"

func isReference(stored []byte) bool { return bytes.HasPrefix(stored, []byte("archived ")) }

// body returns the recorded body of an event: the stored one, or the one it refers to.
func (a archive) body(stored []byte) ([]byte, error) {
	if !isReference(stored) {
		return stored, nil
	}
	offset, size, err := a.find(stored)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(string(a))
	if err != nil {
		return nil, unwritable(string(a), err)
	}
	defer f.Close()
	place := io.NewSectionReader(f, offset, size)
	packed := bufio.NewReader(place)
	body, err := io.ReadAll(io.LimitReader(flate.NewReader(packed), MaxBody+1))
	if err == nil && len(body) > MaxBody {
		err = errors.New("a body is too large")
	}
	if err != nil {
		return nil, a.damaged(err)
	}
	if read, err := place.Seek(0, io.SeekCurrent); err != nil || read-int64(packed.Buffered()) != size {
		return nil, a.damaged(fmt.Errorf("a body ends before its place, %s", stored))
	}
	return body, nil
}

// find returns the place that a reference names. It requires that the file reaches that far.
func (a archive) find(stored []byte) (offset, size int64, err error) {
	_, err = fmt.Sscanf(string(stored), reference, &offset, &size) // It ignores what follows.
	if err != nil || offset < 0 || size < 0 || fmt.Sprintf(reference, offset, size) != string(stored) {
		return 0, 0, a.damaged(fmt.Errorf("%.100q is not a reference", stored))
	}
	info, err := lstatRegular(string(a))
	switch {
	case err != nil:
		return 0, 0, err
	case info == nil:
		return 0, 0, a.damaged(os.ErrNotExist)
	case info.Size()-offset < size:
		return 0, 0, a.damaged(fmt.Errorf("it has %d bytes and ends before the body %s", info.Size(), stored))
	}
	return offset, size, nil
}

func (a archive) damaged(err error) error {
	return errs.New(errs.LedgerArchive, "read the ledger's archive: %w", err).With("path", string(a))
}

// Archived is the result of Archive.
type Archived struct {
	Tasks  int   `json:"tasks"`
	Events int64 `json:"events"`
	// Bodies is the size of the events' bodies, and Archive their size in the archive, in
	// bytes.
	Bodies  int64 `json:"bodies"`
	Archive int64 `json:"archive"`
}

// archivedTasks is the number of tasks that one transaction archives.
const archivedTasks = 64

// Archive moves the bodies of the tasks' events to the archive. It skips tasks with events
// after the given heads, and bodies that were moved before. Events are read as before.
// Compact then frees the space in the database.
//
// # Errors
//
// The errors of AppendAll, and ledger-archive if the archive lacks bodies. Tasks that were
// archived before the error stay archived. A process that is killed leaves at most unused
// bytes in the archive.
func (l *Ledger) Archive(ctx context.Context, heads []Head) (Archived, error) {
	var all Archived
	db, err := l.connect(ctx)
	if err != nil || db == nil {
		return all, err
	}
	if err := l.retry(ctx, "archive", func() error { return l.checkArchive(ctx, db) }); err != nil {
		return all, err
	}
	for part := range slices.Chunk(heads, archivedTasks) {
		var moved Archived
		if err := l.retry(ctx, "archive", func() (err error) {
			moved, err = l.archiveTasks(ctx, db, part)
			return err
		}); err != nil {
			return all, err
		}
		all.Tasks += moved.Tasks
		all.Events += moved.Events
		all.Bodies += moved.Bodies
		all.Archive += moved.Archive
	}
	return all, nil
}

// checkArchive requires that the archive is there and not shorter than it was. New bodies in
// another file would get places that the database already has for other bodies, and the
// backup that has those would replace them.
//
// The query reads the sizes of all bodies, but only bodies that are as short as references.
func (l *Ledger) checkArchive(ctx context.Context, db *sql.DB) error {
	var last []byte
	found, err := queryRow(ctx, db, []any{&last}, "SELECT body FROM events WHERE octet_length(body) < 64 AND substr(body, 1, 9) = 'archived '"+
		" ORDER BY CAST(substr(body, 10) AS INTEGER) DESC LIMIT 1") // CAST ends at the space.
	if err == nil && found {
		_, _, err = l.archive().find(last)
	}
	return err
}

// archiveTasks archives tasks in one transaction. The bodies are on disk before the database
// refers to them, and its lock keeps other processes from writing to the archive.
func (l *Ledger) archiveTasks(ctx context.Context, db *sql.DB, heads []Head) (moved Archived, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return moved, err
	}
	defer tx.Rollback()
	var bodies []archivedBody
	for _, h := range heads {
		if now, err := readHead(ctx, tx, h.Task); err != nil {
			return moved, err
		} else if now.N != h.N {
			continue
		}
		before := len(bodies)
		var b archivedBody
		err := eachRow(ctx, tx, []any{&b.seq, &b.text}, func() error {
			if !isReference(b.text) {
				bodies = append(bodies, b)
			}
			return nil
		}, "SELECT seq, body FROM events WHERE task = ?", h.Task)
		if err != nil {
			return moved, err
		}
		if len(bodies) > before {
			moved.Tasks++
		}
	}
	if len(bodies) == 0 {
		return moved, nil
	}
	f, err := l.openArchive()
	if err != nil {
		return Archived{}, err
	}
	defer f.Close()
	start, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return Archived{}, unwritable(f.Name(), err)
	}
	if err := moveBodies(ctx, tx, f, start, bodies); err != nil {
		_ = tx.Rollback()
		return Archived{}, errors.Join(err, takeBack(ctx, db, f, start, err))
	}
	for _, b := range bodies {
		moved.Events++
		moved.Bodies += int64(len(b.text))
		moved.Archive += b.size
	}
	return moved, nil
}

// moveBodies appends bodies to the archive, flushes it, and commits references to them.
func moveBodies(ctx context.Context, tx *sql.Tx, f *os.File, start int64, bodies []archivedBody) error {
	if err := writeBodies(f, start, bodies); err != nil {
		return unwritable(f.Name(), err)
	}
	for _, b := range bodies {
		if _, err := tx.ExecContext(ctx, "UPDATE events SET body = ? WHERE seq = ?", fmt.Sprintf(reference, b.offset, b.size), b.seq); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// takeBack removes what a failed transaction wrote to the archive from start on, or a full disk
// would fill further with each attempt. The transaction's lock is gone: what another process
// appended since stays, and so does what is before it.
func takeBack(ctx context.Context, db *sql.DB, f *os.File, start int64, cause error) error {
	if e, ok := errors.AsType[*sqlite.Error](cause); ok && e.Code()&0xff == sqlite3.SQLITE_IOERR {
		return nil // The disk may have the commit nevertheless.
	}
	return inTx(context.WithoutCancel(ctx), db, false, func(*sql.Tx) error {
		written, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if end, err := f.Seek(0, io.SeekEnd); err != nil || end != written {
			return err
		}
		return f.Truncate(start)
	})
}

// archivedBody is a body to archive, and its position in the archive.
type archivedBody struct {
	seq          int64
	text         []byte
	offset, size int64
}

func (l *Ledger) openArchive() (*os.File, error) {
	path := string(l.archive())
	if _, err := lstatRegular(path); err != nil { // A pipe would wait for a reader.
		return nil, err
	}
	dir, err := safefile.OpenDir(l.dir)
	if err != nil {
		return nil, unwritable(path, err)
	}
	defer dir.Close()
	f, err := dir.OpenFile(archiveName, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unwritable(path, err)
	}
	if err := safefile.SyncDir(dir, "."); err != nil {
		f.Close()
		return nil, unwritable(path, err)
	}
	return f, nil
}

// writeBodies writes bodies to the archive's end, which is at start, and flushes it. It sets
// their positions.
func writeBodies(f *os.File, start int64, bodies []archivedBody) error {
	for i := range bodies {
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // It fails only for an unknown level.
		if _, err := w.Write(bodies[i].text); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		n, err := f.Write(packed.Bytes())
		if err != nil {
			return err
		}
		bodies[i].offset, bodies[i].size = start, int64(n)
		start += int64(n)
	}
	return f.Sync()
}

func (l *Ledger) archive() archive { return archive(filepath.Join(filepath.Dir(l.path), archiveName)) }
