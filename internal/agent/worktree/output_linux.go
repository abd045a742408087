package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// create creates a file in memory. One on a disk can take a tenth of the time of git.
func (g *git) create(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, unreadable(".", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
