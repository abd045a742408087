package worktree_test

import (
	"bytes"
	"os"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// Ext4 exchanges the blocks of two files for everybody who may write them, and sets
// no time. So a file that looks as it did at the last look has to be read again.
func TestContentThatChangesWithoutATime(t *testing.T) {
	s := newScene(t)
	s.write("victim", string(bytes.Repeat([]byte("v"), 8<<10)))
	other := s.home + "/other"
	s.must(os.WriteFile(other, bytes.Repeat([]byte("e"), 8<<10), 0o600))
	time.Sleep(100 * time.Millisecond) // so that a cache would rely on the times
	moved := false
	tree := s.tree()
	tree.Cache = &worktree.Cache{}
	cached, err := tree.Snapshot(t.Context(), worktree.Scope{})
	s.must(err)
	changes := s.changed(func() {
		var before, after unix.Stat_t
		s.must(unix.Stat(s.path("victim"), &before))
		moved = s.exchange(other, s.path("victim"))
		s.must(unix.Stat(s.path("victim"), &after))
		before.Atim, after.Atim = unix.Timespec{}, unix.Timespec{}
		if moved && before != after {
			moved = false // This kernel tells.
		}
	})
	if !moved {
		t.Skip("skipped: no file system here lets a content change without a time")
	}
	s.want(changes, "content victim")
	tree.Reread = worktree.RereadAll
	again, err := tree.Snapshot(t.Context(), worktree.Scope{})
	s.must(err)
	s.want(lines(worktree.Compare(cached, again)), "content victim")
}

// exchange puts the blocks of one file in place of another's, and reports whether
// the content of the latter is another one now.
func (s scene) exchange(from, to string) bool {
	s.Helper()
	open := func(name string) *os.File {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		s.must(err)
		s.must(f.Sync())
		// What is in memory hides what is on the disk.
		s.must(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
		return f
	}
	was, err := os.ReadFile(to)
	s.must(err)
	source, target := open(from), open(to)
	defer source.Close()
	defer target.Close()
	const moveExtents = 0xC028660F // EXT4_IOC_MOVE_EXT of linux/fs/ext4
	request := struct {
		_, donor                uint32
		from, to, blocks, moved uint64
	}{donor: uint32(target.Fd()), blocks: 1}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, source.Fd(), moveExtents, uintptr(unsafe.Pointer(&request))); errno != 0 && request.moved == 0 {
		s.Logf("no blocks can be exchanged: %v", errno)
		return false
	}
	s.must(target.Sync())
	s.must(unix.Fadvise(int(target.Fd()), 0, 0, unix.FADV_DONTNEED))
	is, err := os.ReadFile(to)
	s.must(err)
	return !bytes.Equal(was, is)
}
