package gitrepo_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

const pageSize = 4096 // bytes, of tmpfs

// newDisk mounts a small file system. Only the calling goroutine and the processes that
// it starts can see it.
func newDisk(t *testing.T) string {
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
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=0700")
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

// fill fills a disk except for this number of pages.
func fill(t *testing.T, file string, pages int) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, pageSize))
		size += int64(n)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(max(0, size-int64(pages)*pageSize)), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// On a full disk a step fails as a whole: no ref is half-written, and the step succeeds
// when there is room.
func TestFullDisk(t *testing.T) {
	disk := newDisk(t)
	s := sceneAt(t, disk)
	filler := filepath.Join(disk, "filler")
	head := s.git(s.dir, "rev-parse", "HEAD")
	r, w := s.open(), s.worktree("T")
	failures := 0
	for pages := 0; ; pages++ {
		fill(t, filler, pages)
		err := r.AddWorktree(t.Context(), w, head)
		if code := errs.CodeOf(err); err != nil && code != errs.GitFailed && code != errs.FileUnwritable {
			t.Errorf("with %d pages it fails with %v", pages, err)
		}
		s.must(os.Remove(filler))
		s.must(r.AddWorktree(t.Context(), w, head))
		s.wantWorktree(w, head)
		if err == nil {
			break
		}
		failures++
		s.must(r.RemoveWorktree(t.Context(), w, "main"))
	}
	parent := head
	for pages := 0; ; pages++ {
		s.write(s.file(w, "b.txt"), strings.Repeat("x", pages))
		c := s.request(r, w, "complete")
		c.Tree, c.Trailers[1].Value = "", c.Tree
		s.write(s.file(w, "c.txt"), strings.Repeat("y", pages))
		fill(t, filler, pages)
		tree, err := r.WriteTree(t.Context(), w.Path)
		if c.Tree = tree; err == nil {
			_, err = r.Commit(t.Context(), w, c)
		}
		if code := errs.CodeOf(err); err != nil && code != errs.GitFailed && code != errs.FileUnwritable {
			t.Errorf("with %d pages it fails with %v", pages, err)
		}
		s.must(os.Remove(filler))
		s.git(s.dir, "fsck", "--strict")
		c.Tree = s.tree(r, w)
		commit, again := r.Commit(t.Context(), w, c)
		s.must(again)
		s.wantWorktree(w, commit)
		s.equal(s.git(s.dir, "rev-parse", commit+"^"), parent)
		parent = commit
		if err == nil {
			break
		}
		failures++
	}
	if failures < 4 {
		t.Errorf("only %d attempts failed", failures)
	}
}
