//go:build darwin || freebsd || netbsd

package worktree

import (
	"io/fs"
	"syscall"
)

// inode returns the change time and the number of a file's inode.
func inode(info fs.FileInfo) (changed, number int64) {
	s := info.Sys().(*syscall.Stat_t)
	return s.Ctimespec.Nano(), int64(s.Ino)
}
