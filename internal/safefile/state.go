package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// IgnoreFile keeps a state directory, itself included, out of version control, except for
// the agents and prompts that people write there.
const (
	IgnoreFile = ".gitignore"
	ignoreText = "/*\n!/agents/\n!/prompts/\n"
)

// OpenState opens the directory of a program's state like MakeDir. It removes the permissions
// of other users, which a clone may have given, and writes an IgnoreFile. It fails with
// ErrForeign if the directory belongs to another user.
//
// The IgnoreFile is the first file in a new directory, so it needs no sync: the files that it
// ignores come later.
func OpenState(path string) (*os.Root, error) {
	root, err := MakeDir(path)
	if err != nil {
		return nil, err
	}
	err = MakePrivate(root)
	if err == nil {
		_, err = WriteIgnoreFile(root)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// MakePrivate removes the permissions of other users from a directory. It fails with
// ErrForeign if the directory belongs to another user.
func MakePrivate(root *os.Root) error {
	info, err := root.Stat(".")
	switch {
	case err != nil:
		return err
	case !OwnedByUser(info):
		return ErrForeign
	case openToOthers(info):
		return root.Chmod(".", info.Mode().Perm()&0o700)
	}
	return nil
}

// OwnedByUser reports whether a file belongs to the user of this process.
func OwnedByUser(file fs.FileInfo) bool {
	id, ok := Owner(file)
	return ok && id == max(os.Geteuid(), 0) // It is -1 on Windows.
}

// WriteIgnoreFile writes a directory's IgnoreFile unless the name exists, and reports whether
// it did.
func WriteIgnoreFile(root *os.Root) (bool, error) {
	if _, err := root.Lstat(IgnoreFile); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	temp := tempName(".", IgnoreFile)
	err := root.WriteFile(temp, []byte(ignoreText), 0o644)
	if err == nil {
		err = root.Link(temp, IgnoreFile)
	}
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil // Another process has written it.
	}
	if removeErr := root.Remove(temp); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return made, err
}
