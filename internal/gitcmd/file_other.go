//go:build !linux

package gitcmd

import "os"

// create creates a temporary file.
func create() (*os.File, error) { return os.CreateTemp("", "switchyard-git-") }

func discard(f *os.File) {
	_ = f.Close() // Some systems cannot remove an open file.
	_ = os.Remove(f.Name())
}
