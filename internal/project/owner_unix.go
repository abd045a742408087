//go:build unix

package project

import (
	"io/fs"
	"syscall"
)

// otherOwner returns the id of a file's owner, and whether that is somebody else
// than the user me and root. For root itself everybody else is a stranger.
func otherOwner(file fs.FileInfo, me int) (int, bool) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, true // Nobody answers for it.
	}
	owner := int(stat.Uid)
	return owner, owner != me && owner != 0
}
