package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// IgnoreFile keeps a state folder out of version control, itself too, except for
// what people write there: the agents and the prompts.
const (
	IgnoreFile = ".gitignore"
	ignoreText = "/*\n!/agents/\n!/prompts/\n"
)

// State opens the folder at a path as one of a program's state: it is made if
// there is none, for its owner alone, and has an IgnoreFile. One that others may
// enter, as a clone makes it, is closed to them. It fails with ErrForeign if the
// folder belongs to another user, and as Make does.
//
// The IgnoreFile comes before anything else in a new folder, so that no state is
// there without it. It is not flushed: what it keeps out comes later.
func State(path string) (*os.Root, error) {
	root, err := Make(path)
	if err != nil {
		return nil, err
	}
	err = Private(root)
	if err == nil {
		_, err = Ignore(root)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Private closes a folder to other users, and fails with ErrForeign if it belongs
// to one of them.
func Private(root *os.Root) error {
	info, err := root.Stat(".")
	switch {
	case err != nil:
		return err
	case !Ours(info):
		return ErrForeign
	case open(info):
		return root.Chmod(".", info.Mode().Perm()&0o700)
	}
	return nil
}

// Ignore writes a folder's IgnoreFile, unless something of that name is there, and
// reports whether it did.
func Ignore(root *os.Root) (bool, error) {
	if _, err := root.Lstat(IgnoreFile); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	draft := draftOf(".", IgnoreFile)
	err := root.WriteFile(draft, []byte(ignoreText), 0o644)
	if err == nil {
		err = root.Link(draft, IgnoreFile)
	}
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil // Another process was faster and has written the same.
	}
	if gone := root.Remove(draft); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return made, err
}
