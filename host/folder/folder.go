// Package folder opens folders and files of which somebody else may have put
// others in their place, and writes files whole.
//
// A project's folder is written to by agents, and a repository brings what it
// likes: a symbolic link there must not make us read or write elsewhere, and a
// named pipe must not make us wait. All is done below an opened os.Root, so that
// nothing can be swapped between a look and the use.
//
// It is ground floor: it imports nothing of ours. Errors are those of the file
// system, for the caller to give a code to; Reason takes the path off them.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"syscall"
)

// What is wrong with what lies in the place of a folder or a file.
var (
	ErrNoFolder = errors.New("not a folder")
	ErrNoFile   = errors.New("not a regular file")
	ErrReplaced = errors.New("replaced while it was opened")
)

// Make opens the folder at a path, and makes it, for its owner alone, where there
// is none; the folder that it lies in must be there. Its last part may be no
// symbolic link.
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
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
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

// OpenFile opens a regular file and nothing else: no link is followed, and no pipe
// waited for. flag is as for os.OpenFile, without os.O_CREATE.
func OpenFile(root *os.Root, name string, flag int) (*os.File, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, ErrNoFile
	}
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace gives a file a new content and mode, all at once and for good: a reader
// sees the old one or the new one, and so does who comes after a loss of power.
// What has the name is replaced, and not followed or written into.
func Replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	draft, err := write(root, path.Dir(name), path.Base(name), data, mode)
	if err != nil {
		return err
	}
	if err := root.Rename(draft, name); err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return Flush(root, path.Dir(name))
}

// Create makes a file in the same way. It fails with fs.ErrExist where there is
// one, and leaves that alone. Its draft lies in the folder drafts until then.
func Create(root *os.Root, drafts, name string, data []byte, mode fs.FileMode) error {
	draft, err := write(root, drafts, path.Base(name), data, mode)
	if err != nil {
		return err
	}
	// A link does not replace what is there, and a rename does.
	err = root.Link(draft, name)
	if err := errors.Join(err, root.Remove(draft)); err != nil {
		return err
	}
	return Flush(root, path.Dir(name))
}

// write creates a file under a name of its own, whose content has reached the disk,
// and returns its path.
func write(root *os.Root, in, name string, data []byte, mode fs.FileMode) (string, error) {
	draft := path.Join(in, fmt.Sprintf(".%s.%016x", name, rand.Uint64()))
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(draft))
	}
	return draft, nil
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
