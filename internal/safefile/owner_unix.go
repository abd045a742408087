//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// Ours reports whether a file belongs to the user that we run as.
func Ours(file fs.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// open reports whether other users may enter a folder.
func open(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }
