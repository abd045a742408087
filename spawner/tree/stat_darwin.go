package tree

import (
	"io/fs"
	"syscall"
)

// inode returns the time of the last change of a file's inode and its number.
func inode(info fs.FileInfo) (changed, number int64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctimespec.Nano(), int64(s.Ino)
	}
	return 0, 0
}
