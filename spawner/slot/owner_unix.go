//go:build unix

package slot

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to the user that we run as.
func ours(file fs.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
