package ledger

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const fileName = "ledger.db"

// pragmas are for every connection: lock waiting, distrust of the file, and durable
// commits. The write-ahead log is a property of the file.
const pragmas = "_pragma=busy_timeout(" + waitSlice + ")" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_pragma=synchronous(FULL)"

// drivePragmas make macOS flush the drive's cache, which its fsync does not. They have
// no effect elsewhere, but cost time.
const drivePragmas = "&_pragma=fullfsync(ON)&_pragma=checkpoint_fullfsync(ON)"

// connection returns the data source name of the ledger at path. Its log outlives the
// connection, unless that only reads and there was no log before.
func connection(path string, reading bool) string {
	own := pragmas
	if reading {
		own += "&_pragma=query_only(ON)"
	}
	if runtime.GOOS == "darwin" {
		own += drivePragmas
	}
	if _, err := os.Lstat(path + logSuffix); err == nil || !reading {
		allowPersistentLogs()
		own += "&" + persistentLog + "=1"
	}
	return source(path, own)
}

// source returns the data source name of an existing database at an absolute path.
func source(path, pragmas string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return u.String() + "?mode=rw&_txlock=immediate&_defensive=1&_dqs=0&" + pragmas
}

// inspect checks the state directory without following links, removes the permissions
// of other users, and returns the database's file, or nil if it does not exist.
func inspect(dir string) (os.FileInfo, error) {
	root, err := safefile.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = errors.Join(safefile.MakePrivate(root), root.Close())
	}
	if err != nil {
		return nil, unusable(dir, err)
	}
	return inspectFile(filepath.Join(dir, fileName))
}

// lstatRegular returns the regular file at path, or nil if path does not exist. Any other
// kind of file is an error.
func lstatRegular(path string) (os.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unwritable(path, err)
	case !info.Mode().IsRegular():
		return nil, unsafePath(path, "is not a regular file")
	}
	return info, nil
}

// inspectFile checks a database and the files beside it without following links, and
// returns the database's file, or nil if it does not exist.
func inspectFile(path string) (os.FileInfo, error) {
	// The log comes first: a database exists before its log has content.
	log, err := lstatRegular(path + logSuffix)
	if err != nil {
		return nil, err
	}
	file, err := lstatRegular(path)
	if err != nil {
		return nil, err
	}
	if file == nil && log != nil && log.Size() > 0 {
		return nil, corrupt("%s is missing, but its log is there", path)
	}
	if file == nil {
		return nil, nil
	}
	os.SameFile(file, file) // Windows reads the identity of a file at its first use.
	if _, err := lstatRegular(path + "-shm"); err != nil {
		return nil, err
	}
	// A ledger always has a write-ahead log. Only an attacker leaves a rollback journal,
	// which can make SQLite delete another file.
	journal := path + "-journal"
	if _, err := os.Lstat(journal); !errors.Is(err, fs.ErrNotExist) {
		return nil, unsafePath(journal, "does not belong to a ledger")
	}
	return file, nil
}

func unusable(dir string, err error) error {
	if safefile.Unsafe(err) {
		return unsafePath(dir, "cannot be used: "+err.Error())
	}
	return unwritable(dir, err)
}
