package gitrepo

import (
	"io"
	"os"
	"path/filepath"
)

// streams are the files for the input, output and errors of git commands, one command
// after the other: creating and removing them costs more than most commands. They have no
// names, so that a killed process leaves nothing.
type streams [3]*os.File

func newStreams() (*streams, error) {
	dir, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return nil, unwritable(err)
	}
	defer os.RemoveAll(dir) // Windows cannot remove open files, but they are temporary.
	s := new(streams)
	for i, name := range []string{"input", "output", "errors"} {
		if s[i], err = os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			s.close()
			return nil, unwritable(err)
		}
	}
	return s, nil
}

// prepare empties the files and writes the input of the next command.
func (s *streams) prepare(input string) error {
	for _, f := range s {
		if err := f.Truncate(0); err != nil {
			return unwritable(err)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return unwritable(err)
		}
	}
	// The offset stays at the beginning, where the command reads.
	if _, err := s[0].WriteAt([]byte(input), 0); err != nil {
		return unwritable(err)
	}
	return nil
}

func (s *streams) close() {
	for _, f := range s {
		_ = f.Close() // A nil file refuses it.
	}
}
