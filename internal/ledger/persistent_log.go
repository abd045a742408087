package ledger

import (
	"context"
	"database/sql"
	"os"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// logSuffix follows the name of the database in the name of its write-ahead log.
const logSuffix = "-wal"

// logLimit is the size of the log, in bytes, from which an append first writes it into the
// database. Opening a database reads the whole log, which takes about 1 ms for this size. A
// round adds some 50 KB, so about one in twenty writes the log.
const logLimit = 1 << 20

// prepareLog brings the log into a state in which the next commit syncs it only once: it has
// its header, and is not long. Otherwise the commit only takes longer, so the only error is
// that the connection's settings cannot be restored.
func (l *Ledger) prepareLog(ctx context.Context, conn *sql.Conn) error {
	size := l.logSize()
	if 0 < size && size < logLimit {
		return nil
	}
	if size >= logLimit {
		// Do not wait for readers, which may use the log for long.
		_, _ = conn.ExecContext(ctx, "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
	}
	// A transaction that ends with ctx is rolled back by another goroutine, and SQLite does not
	// change these settings within a transaction.
	ctx = context.WithoutCancel(ctx)
	// If power is lost, an empty log and one with half a header are the same.
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = OFF"); err == nil {
		_ = l.startLog(ctx, conn)
	}
	_, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = "+waitSlice+"; PRAGMA synchronous = FULL")
	return err
}

// startLog writes the header of an empty log.
func (l *Ledger) startLog(ctx context.Context, conn *sql.Conn) error {
	return inTx(ctx, conn, false, func(tx *sql.Tx) error {
		if l.logSize() > 0 { // Another process was faster.
			return nil
		}
		// The id does not change, but SQLite writes its page.
		_, err := tx.ExecContext(ctx, setApplicationID)
		return err
	})
}

// logSize returns the size of the log, 0 if it does not exist.
func (l *Ledger) logSize() int64 {
	log, err := os.Lstat(l.path + logSuffix)
	if err != nil {
		return 0
	}
	return log.Size()
}

// persistentLog is the parameter of a data source name that lets the log outlive its last
// connection. Otherwise SQLite writes the log into the database, with two more syncs, and
// removes it.
const persistentLog = "persistent_log"

// allowPersistentLogs makes new connections obey persistentLog. The driver has no option
// for SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, so an automatic extension sets it.
var allowPersistentLogs = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	f := configure
	// The variable of a function has a pointer to it, which is the C function.
	sqlite3.Xsqlite3_auto_extension(tls, *(*uintptr)(unsafe.Pointer(&f)))
})

// configure is the extension's entry point, which SQLite calls for each new connection.
func configure(tls *libc.TLS, db, _, _ uintptr) int32 {
	name, err := libc.CString(persistentLog)
	if err != nil {
		return sqlite3.SQLITE_NOMEM
	}
	defer libc.Xfree(tls, name)
	if sqlite3.Xsqlite3_uri_boolean(tls, sqlite3.Xsqlite3_db_filename(tls, db, 0), name, 0) == 0 {
		return sqlite3.SQLITE_OK
	}
	args := libc.NewVaList(int32(1), uintptr(0))
	defer libc.Xfree(tls, args)
	return sqlite3.Xsqlite3_db_config(tls, db, sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, args)
}
