//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owner returns the id of a file's owner. ok is false if it is unknown. On Windows, where
// users have separate home directories, it is always 0.
func Owner(file fs.FileInfo) (id int, ok bool) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// openToOthers reports whether other users may enter a directory.
func openToOthers(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }

func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// tryLock locks a file and returns false if it is locked already, also by another open
// file of this process. The lock ends when the file is closed or the process ends.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}
