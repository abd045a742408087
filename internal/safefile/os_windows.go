package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/switchyard-dev/switchyard/internal/retry"
)

func Owner(fs.FileInfo) (id int, ok bool) { return 0, true }

// openToOthers returns false because a mode does not show Windows permissions.
func openToOthers(fs.FileInfo) bool { return false }

// rename replaces a file. Windows refuses this while another process has the file open,
// which usually does not last long.
func rename(root *os.Root, from, to string) (err error) {
	for range (retry.Backoff{First: 2 * time.Millisecond, Max: 100 * time.Millisecond, Limit: 25}).Attempts(context.Background()) {
		err = root.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			break
		}
	}
	return err
}

// tryLock locks a byte far beyond the end of a file, so that others can read the file.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
