package textfile_test

import (
	"os"
	"testing"

	"golang.org/x/sys/windows"
)

// hold locks a draft as another process would.
func hold(t *testing.T, draft string) (release func()) {
	t.Helper()
	f, err := os.Create(draft)
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1}); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}
