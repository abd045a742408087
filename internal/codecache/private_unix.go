//go:build unix

package codecache

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether only this user can write to the file.
func private(info fs.FileInfo) bool {
	if info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}
