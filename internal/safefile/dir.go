// Package safefile opens files and folders in places that others can write to, and
// replaces files atomically.
//
// Agents write into a project's folder, and a repository may bring anything: a symbolic
// link must not make us read or write elsewhere, and a named pipe must not block us.
// Everything happens below an open os.Root, so that nothing can be swapped between a
// check and the use.
//
// Errors are those of the file system, for the caller to give a code to; Reason strips
// the path from them.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// Reasons not to use what is in the place of a folder or a file.
var (
	ErrNotFolder  = errors.New("not a folder")
	ErrNotRegular = errors.New("not a regular file")
	ErrReplaced   = errors.New("replaced while it was opened")
	ErrForeign    = errors.New("belongs to another user")
	// ErrOutside is what Confined makes of a path that leads out of its root.
	ErrOutside = errors.New("path escapes from parent")
)

// Unsafe reports whether err says that a folder or a file is not what it should be, as
// opposed to a failure of the file system.
func Unsafe(err error) bool {
	return errors.Is(err, ErrNotFolder) || errors.Is(err, ErrNotRegular) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrForeign)
}

// Confined returns err with ErrOutside in it if root refused a path that leads out of
// it, and any other err as it is.
func Confined(root *os.Root, err error) error {
	pathErr, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	// Package os exports no error for it. So ask root for one.
	if _, outside := root.Lstat(".."); pathErr.Err == Reason(outside) {
		return &fs.PathError{Op: pathErr.Op, Path: pathErr.Path, Err: ErrOutside}
	}
	return err
}

// MakeDir opens the folder at path. If there is none, it makes one that only its owner
// can enter and that survives a power loss; the parent folder must exist. The last part
// of path must not be a symbolic link.
func MakeDir(path string) (*os.Root, error) { return inParent(path, MakeDirIn) }

// OpenDir opens the folder at path. The last part of path must not be a symbolic link.
func OpenDir(path string) (*os.Root, error) { return inParent(path, openDirIn) }

func inParent(path string, open func(*os.Root, string) (*os.Root, error)) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return open(parent, filepath.Base(path))
}

// MakeDirIn is MakeDir for a folder in root.
func MakeDirIn(root *os.Root, name string) (*os.Root, error) {
	err := root.Mkdir(name, 0o700)
	if err == nil {
		err = SyncDir(root, path.Dir(name))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openDirIn(root, name)
}

func openDirIn(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, ErrNotFolder
	}
	opened, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// OpenRoot follows links within root, so check that it opened the folder seen.
	info, err := opened.Stat(".")
	if err == nil && !os.SameFile(seen, info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// SyncDir makes the entries of a folder survive a power loss. It does nothing on
// Windows: NTFS journals its folders.
func SyncDir(root *os.Root, name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// RemoveAll removes a folder and everything in it, also below folders without
// permissions, as some tools leave their downloads. A missing folder is no error.
func RemoveAll(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = root.Chmod(at, 0o700) // If this fails, so does RemoveAll.
		}
		return nil
	})
	return root.RemoveAll(name)
}

// Reason returns the cause of a file system error, without its operation and path.
func Reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}
