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

// fileName is the database's name in the state directory.
const fileName = "ledger.db"

// pragmas are for every connection: lock waiting, distrust of the file, and durable
// commits. The write-ahead log is a property of the file.
const pragmas = "_pragma=busy_timeout(" + waitSlice + ")" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_pragma=synchronous(FULL)"

// drivePragmas make macOS flush the drive's cache, which its fsync does not. They have
// no effect elsewhere, but cost time.
const drivePragmas = "&_pragma=fullfsync(ON)&_pragma=checkpoint_fullfsync(ON)"

// connection returns the data source name of the ledger at path.
func connection(path string, reading bool) string {
	own := pragmas
	if reading {
		own = readerPragmas
	}
	if runtime.GOOS == "darwin" {
		own += drivePragmas
	}
	return source(path, own)
}

// source returns the data source name of an existing database at an absolute path.
func source(path, pragmas string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return u.String() + "?mode=rw&_txlock=immediate&_defensive=1&_dqs=0&" + pragmas
}

// inspect checks the state directory without following links, removes the permissions
// of other users, and returns the database's file, or nil if there is none.
func inspect(dir string) (os.FileInfo, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unwritable(dir, err)
	case !info.IsDir():
		return nil, unsafePath(dir, "is not a directory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	if err := errors.Join(safefile.MakePrivate(root), root.Close()); err != nil {
		return nil, unusable(dir, err)
	}
	return inspectFile(filepath.Join(dir, fileName))
}

// lstatRegular returns the regular file at path, or nil if there is nothing. Anything
// else is an error.
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

// makeDir creates the state directory if it does not exist.
func makeDir(dir string) error {
	root, err := safefile.OpenState(dir)
	if err == nil {
		err = root.Close()
	}
	if err != nil {
		return unusable(dir, err)
	}
	return nil
}

// unusable returns the error of a state directory.
func unusable(dir string, err error) error {
	if safefile.Unsafe(err) {
		return unsafePath(dir, "cannot be used: "+err.Error())
	}
	return unwritable(dir, err)
}

// flushFile syncs the file at path.
func flushFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows flushes only what may be written.
	if err != nil {
		return unwritable(path, err)
	}
	return flush(f)
}

// flushDir syncs a directory, except on Windows: NTFS journals its directories.
func flushDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return unwritable(path, err)
	}
	return flush(f)
}

func flush(f *os.File) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return unwritable(f.Name(), err)
	}
	return nil
}
