// Package safefile opens files and directories in places that others can write to, and
// replaces files atomically.
//
// Agents write into a project's directory, and a repository may contain any kind of file: a
// symbolic link must not make us read or write outside of it, and a named pipe must not block
// us. All operations are below an open os.Root, so that a file cannot be swapped between a
// check and the use.
//
// The functions return errors of the file system, which the caller gives a code; Reason
// strips the path from them.
package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// The reasons not to use a directory or a file.
var (
	ErrNotFolder  = errors.New("not a directory")
	ErrNotRegular = errors.New("not a regular file")
	ErrReplaced   = errors.New("replaced while it was opened")
	ErrForeign    = errors.New("belongs to another user")
	// ErrOutside is the error of a path that leads out of its root, see Confined.
	ErrOutside = errors.New("path escapes from parent")
)

// Unsafe reports whether err is one of these reasons, and not a failure of the file system.
func Unsafe(err error) bool {
	return errors.Is(err, ErrNotFolder) || errors.Is(err, ErrNotRegular) || errors.Is(err, ErrReplaced) || errors.Is(err, ErrForeign)
}

// Confined returns err with the cause ErrOutside if root refused a path that leads out of
// it, and any other err unchanged.
func Confined(root *os.Root, err error) error {
	pathErr, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	// Package os does not export this error, so ask root for it.
	if _, outside := root.Lstat(".."); pathErr.Err == Reason(outside) {
		return &fs.PathError{Op: pathErr.Op, Path: pathErr.Path, Err: ErrOutside}
	}
	return err
}

// MakeDir opens the directory at path. If it does not exist, MakeDir creates it, so that only
// its owner can enter it and it survives a power loss; the parent directory must exist. The
// last part of path must not be a symbolic link.
func MakeDir(path string) (*os.Root, error) { return inParent(path, MakeDirIn) }

// OpenDir opens the directory at path. The last part of path must not be a symbolic link.
func OpenDir(path string) (*os.Root, error) { return inParent(path, openDirIn) }

func inParent(path string, open func(*os.Root, string) (*os.Root, error)) (*os.Root, error) {
	parent, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return open(parent, filepath.Base(path))
}

// MakeDirIn is MakeDir for a directory in root.
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
	// OpenRoot follows links within root, so check that it opened the same directory.
	info, err := opened.Stat(".")
	if err == nil && !os.SameFile(seen, info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// SyncDir makes the entries of a directory survive a power loss. It has no effect on Windows,
// because NTFS journals its directories.
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

// RemoveAll removes a directory and its contents, also below directories without
// permissions, as some tools leave their downloads. A missing directory is not an error.
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

// RemovePath is RemoveAll for the path of a directory. The parent directory must not be a
// symbolic link.
func RemovePath(path string) error {
	parent, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(RemoveAll(parent, filepath.Base(path)), parent.Close())
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
