package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

func TestTryLock(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	lock, err := safefile.TryLock(root, "lock")
	if lock == nil || err != nil {
		t.Fatalf("got %v, %v", lock, err)
	}
	if second, err := safefile.TryLock(root, "lock"); second != nil || err != nil {
		t.Errorf("locked twice: %v, %v", second, err)
	}
	if os.WriteFile(filepath.Join(dir, "lock"), []byte("read"), 0o600) != nil {
		t.Error("who has the lock keeps others from writing")
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if lock, err := safefile.TryLock(root, "link"); lock != nil || !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("a link: %v, %v", lock, err)
	}
}

// TestOneLockAtATime makes many goroutines lock and release one name.
func TestOneLockAtATime(t *testing.T) {
	root := open(t, t.TempDir())
	var holders, taken atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				lock, err := safefile.TryLock(root, "lock")
				if err != nil {
					t.Error(err)
					return
				}
				if lock == nil {
					continue
				}
				taken.Add(1)
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				holders.Add(-1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got the lock")
	}
}
