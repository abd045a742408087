//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUser reports whether a file belongs to the user of this process. On Windows it
// is always true: users have separate home folders.
func OwnedByUser(file fs.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// openToOthers reports whether other users may enter a folder.
func openToOthers(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }
