package host_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

// smallDisk mounts a small file system. Only the calling goroutine and the processes that
// it starts can see it.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root may mount a file system")
	}
	runtime.LockOSThread() // The thread ends with the goroutine, and so does its mount namespace.
	dir := t.TempDir()
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700")
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skipf("skipped: no file system can be mounted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestRunOnAFullDisk drives a task on a disk with some free pages. It fails with a code,
// and goes on to one commit when there is room.
func TestRunOnAFullDisk(t *testing.T) {
	for _, pages := range exhaustive.Sample([]int{0, 1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96}, 5) {
		t.Run(fmt.Sprint(pages), func(t *testing.T) {
			disk := smallDisk(t)
			s := runSiteIn(t, disk, once, twoRounds())
			filler := filepath.Join(disk, "filler")
			f, err := os.Create(filler)
			if err != nil {
				t.Fatal(err)
			}
			size := int64(0)
			for err == nil {
				var n int
				n, err = f.Write(make([]byte, 4096))
				size += int64(n)
			}
			if err := errors.Join(f.Truncate(max(0, size-int64(pages)*4096)), f.Close()); err != nil {
				t.Fatal(err)
			}
			cmd := s.child(t, child{Base: "main"})
			var said strings.Builder
			cmd.Stderr = &said
			if err := cmd.Run(); err == nil {
				t.Logf("%d pages are enough", pages)
			} else if text := said.String(); !strings.HasPrefix(text, "failed") || strings.Contains(text, "internal") || strings.Contains(text, "panic") {
				t.Errorf("with %d pages it ends with %s", pages, text)
			} else {
				t.Logf("with %d pages it ends with %.200s", pages, text)
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			again := s.child(t, child{Base: "main"})
			said.Reset()
			again.Stderr = &said
			if err := again.Run(); err != nil {
				t.Fatalf("with room it ends with %s, %v", said.String(), err)
			}
			if n := strings.Count(s.git(t, "rev-list", "main..switchyard/T")+"\n", "\n"); n != 1 {
				t.Errorf("the branch has %d commits", n)
			}
		})
	}
}
