//go:build unix

package safefile

import (
	"io/fs"
	"syscall"
)

// Owner returns the id of a file's owner. ok is false if it is unknown. On Windows, where
// users have separate home folders, it is always root's.
func Owner(file fs.FileInfo) (id int, ok bool) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// openToOthers reports whether other users may enter a folder.
func openToOthers(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }
