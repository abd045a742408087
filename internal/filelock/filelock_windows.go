package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks a byte far behind a file's end, so that nobody is kept from reading it, and
// reports false where somebody else has it locked. The lock belongs to this opening of
// the file, and goes when it is closed, or the process ends.
func Try(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
