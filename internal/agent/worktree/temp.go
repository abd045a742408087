package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/filelock"
)

// The names of the private folders of looks begin with tempPrefix. As long as a look
// is under way, the file lockFile in its folder is locked.
const (
	// The private directories of scans begin with tempPrefix. During a scan, lockFile in
	// it is locked.
	tempPrefix = "switchyard-tree-"
	lockFile   = "lock"
)

// newTemp creates a private directory, and removes those that killed processes left.
func newTemp(in string) (dir string, held *os.File, err error) {
	left, err := filepath.Glob(filepath.Join(in, tempPrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, dir := range left {
		removeLeft(dir)
	}
	for range 10 {
		if dir, err = os.MkdirTemp(in, tempPrefix); err != nil {
			return "", nil, err
		}
		if held = lock(dir, os.O_CREATE|os.O_EXCL); held != nil {
			return dir, held, nil
		}
		// Another look took it for one that was left, before it was locked.
	}
	return "", nil, fs.ErrNotExist
}

// removeLeft removes the directory of a scan that is over. It does not touch those of
// other users.
func removeLeft(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if f := lock(dir, 0); f != nil {
		_ = errors.Join(f.Close(), os.RemoveAll(dir))
		return
	}
	if os.Remove(dir) == nil {
		return
	}
	// A scan creates its lock first. Without a lock, the scan was killed while it
	// removed its directory.
	if _, err := os.Lstat(filepath.Join(dir, lockFile)); errors.Is(err, fs.ErrNotExist) {
		_ = os.RemoveAll(dir)
	}
}

// lock opens and locks a directory's lock file; nil if it does not exist or is locked.
func lock(dir string, flags int) *os.File {
	name := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(name, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil
	}
	ok, err := filelock.Try(f)
	opened, stat := f.Stat()
	now, gone := os.Lstat(name)
	if !ok || errors.Join(err, stat, gone) != nil || !os.SameFile(opened, now) {
		_ = f.Close()
		return nil
	}
	return f
}
