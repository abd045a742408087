package project

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"runtime"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// CodeUnwritable: a file of the project cannot be written.
const CodeUnwritable fault.Code = "file-unwritable"

// replace gives a file at a root a new content, all at once and for good: a reader
// sees the old one or the new one, and so does who comes after a loss of power. The
// file gets the mode of like, or that of a new file where like is nil.
func replace(root *os.Root, name string, data []byte, like fs.FileInfo) error {
	temp, err := draft(root, ".", name, data, like)
	if err != nil {
		return err
	}
	if err := root.Rename(temp, name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return flushFolder(root, ".")
}

// create makes a file in the same way. It fails with fs.ErrExist where there is
// one, and leaves that alone. The draft lies in folder until then.
func create(root *os.Root, folder, name string, data []byte) error {
	temp, err := draft(root, folder, path.Base(name), data, nil)
	if err != nil {
		return err
	}
	// A link does not replace what is there, and a rename does.
	err = root.Link(temp, name)
	if err := errors.Join(err, root.Remove(temp)); err != nil {
		return err
	}
	return flushFolder(root, path.Dir(name))
}

// draft creates a file under a name of its own, whose content has reached the disk,
// and returns its path.
func draft(root *os.Root, folder, name string, data []byte, like fs.FileInfo) (string, error) {
	temp := path.Join(folder, fmt.Sprintf(".%s.%016x", name, rand.Uint64()))
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	if like != nil {
		err = f.Chmod(like.Mode().Perm()) // whatever the umask took from it
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, root.Remove(temp))
	}
	return temp, nil
}

// flushFolder makes the entries of a folder survive a loss of power. Windows has no
// such flush: NTFS keeps a journal of its folders.
func flushFolder(root *os.Root, folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// unwritable gives an error of the file system its code, without the names of
// temporary files.
func unwritable(name string, err error) *fault.Error {
	return fault.New(CodeUnwritable, "%s: %w", name, reason(err)).With("path", name)
}

// reason is what the file system has to say, without the path that it says it of.
func reason(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err
	}
	return err
}
