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
	tempPrefix = "switchyard-tree-"
	lockFile   = "lock"
)

// newTemp makes a private folder in another one, for its owner alone, and removes
// those that killed processes have left there.
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

// removeLeft removes the folder of a look that is over. What is another user's stays.
func removeLeft(dir string) {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return
	}
	if f := lock(dir, 0); f != nil {
		_ = errors.Join(f.Close(), os.RemoveAll(dir))
		return
	}
	if os.Remove(dir) == nil {
		return // It was empty.
	}
	// A look makes its lock before anything else. So one without it was killed while it
	// removed its folder.
	if _, err := os.Lstat(filepath.Join(dir, lockFile)); errors.Is(err, fs.ErrNotExist) {
		_ = os.RemoveAll(dir)
	}
}

// lock opens and locks the file of a folder; nil if it is not there, or another look
// has it.
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
		_ = f.Close() // It was not even read.
		return nil
	}
	return f
}
