package gitcmd

import (
	"os"

	"golang.org/x/sys/unix"
)

// create creates a file in memory. A file on disk can take a tenth of the time of git.
func create() (*os.File, error) {
	fd, err := unix.MemfdCreate("git", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "git"), nil
}

func discard(f *os.File) { _ = f.Close() }
