// Package safefile opens folders and files of which somebody else may have put
// others in their place, and writes files whole.
//
// A project's folder is written to by agents, and a repository brings what it
// likes: a symbolic link there must not make us read or write elsewhere, and a
// named pipe must not make us wait. All is done below an opened os.Root, so that
// nothing can be swapped between a look and the use.
//
// It is ground floor: it imports nothing of ours. Errors are those of the file
// system, for the caller to give a code to; Reason takes the path off them.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// What is wrong with what lies in the place of a folder or a file.
var (
	ErrNoFolder = errors.New("not a folder")
	ErrNoFile   = errors.New("not a regular file")
	ErrReplaced = errors.New("replaced while it was opened")
	ErrForeign  = errors.New("belongs to another user")
)

// Unsafe reports whether an error says that something lies in the place of a folder
// or a file that must not be used as one.
func Unsafe(err error) bool {
	return errors.Is(err, ErrNoFolder) || errors.Is(err, ErrNoFile) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrForeign)
}

// Make opens the folder at a path, and makes it, for its owner alone, where there
// is none; the folder that it lies in must be there. A folder that it made is there
// after a loss of power, too. The path's last part may be no symbolic link.
func Make(path string) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return MakeIn(parent, filepath.Base(path))
}

// MakeIn is Make for a folder that lies in root.
func MakeIn(root *os.Root, name string) (*os.Root, error) {
	err := root.Mkdir(name, 0o700)
	if err == nil {
		err = Flush(root, path.Dir(name))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, ErrNoFolder
	}
	opened, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// Opening follows links within the root, so it must have met what we saw.
	info, err := opened.Stat(".")
	if err == nil && !os.SameFile(seen, info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// Flush makes the entries of a folder survive a loss of power. Windows has no such
// flush: NTFS keeps a journal of its folders.
func Flush(root *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Reason is what the file system has to say, without the path that it says it of.
func Reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}
