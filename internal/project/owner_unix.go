//go:build unix

package project

import (
	"io/fs"
	"syscall"
)

// otherOwner returns the id of a file's owner, and whether that is neither the user me
// nor root. For root, every other owner is foreign.
func otherOwner(file fs.FileInfo, me int) (int, bool) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, true // The owner is unknown, so do not trust the file.
	}
	owner := int(stat.Uid)
	return owner, owner != me && owner != 0
}
