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

// pragmas are what every connection needs: waiting first, then what distrusts
// the file, then that a commit reaches the disk before Append returns. The
// write-ahead log is not among them, because the file itself remembers it.
const pragmas = "_pragma=busy_timeout(" + waitSlice + ")" +
	"&_pragma=trusted_schema(OFF)&_pragma=cell_size_check(ON)&_pragma=synchronous(FULL)"

// drivePragmas make macOS flush the drive's own cache too, which its fsync leaves
// alone. Elsewhere they have no effect, and cost their time.
const drivePragmas = "&_pragma=fullfsync(ON)&_pragma=checkpoint_fullfsync(ON)"

// connection names the ledger at path with the pragmas that it needs here, for reading
// alone or for writing too.
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

// source names the database at path, an absolute path, in the driver's terms.
// It is never created by opening it.
func source(path, pragmas string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return u.String() + "?mode=rw&_txlock=immediate&_defensive=1&_dqs=0&" + pragmas
}

// inspect looks at the state directory without following links, closes it to other
// users, and returns the database's file, or nil where there is none.
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

// lstatRegular returns what is at path, nil where there is nothing, and an error
// where it is anything else than a regular file.
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

// makeDir creates the state directory, unless it exists.
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

// unusable is the error of a state directory.
func unusable(dir string, err error) error {
	if safefile.Unsafe(err) {
		return unsafePath(dir, "cannot be used: "+err.Error())
	}
	return unwritable(dir, err)
}

// flushFile makes what was written to the file at path survive a loss of power.
func flushFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // Windows flushes only what may be written.
	if err != nil {
		return unwritable(path, err)
	}
	return flush(f)
}

// flushDir does the same for the entries of a directory. Windows has no such
// flush: NTFS keeps a journal of its directories.
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
