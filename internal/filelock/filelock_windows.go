package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks a byte far behind the end of a file, so that others can read it, and returns
// false if it is locked already. Closing the file or the end of the process releases the
// lock.
func Try(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
