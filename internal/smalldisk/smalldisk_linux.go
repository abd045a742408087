// Package smalldisk gives tests a file system that they can fill up.
package smalldisk

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// PageSize is the unit in which the file system allocates space, in bytes.
const PageSize = 4096

// New mounts a file system of a size such as 2m, and returns its path. Only the calling
// goroutine and the processes that it starts can see it. It skips the test if the file
// system cannot be mounted.
func New(t testing.TB, size string) string {
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
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700")
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

// Fill creates a file that fills its disk except for this number of pages.
func Fill(t testing.TB, file string, pages int) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, PageSize))
		size += int64(n)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(max(0, size-int64(pages)*PageSize)), f.Close()); err != nil {
		t.Fatal(err)
	}
}
