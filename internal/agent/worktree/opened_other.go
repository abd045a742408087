//go:build !unix

package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// dirHandle is an opened folder. What lies in it is reached by its name.
type dirHandle struct{ *os.Root }

// openTop opens a place itself.
func openTop(p rootDir) (dirHandle, error) {
	root, err := p.OpenRoot(".")
	return dirHandle{root}, err
}

// folder opens a folder. Without one of that name, the error is fs.ErrNotExist.
func (o dirHandle) folder(name string) (dirHandle, error) {
	info, err := o.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return dirHandle{}, err
	}
	root, err := o.OpenRoot(name)
	return dirHandle{root}, err
}

// names lists the folder, in no order.
func (o dirHandle) names() ([]string, error) {
	f, err := o.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

func (o dirHandle) lstat(name string) (*file, error) {
	info, err := o.Lstat(name)
	if err != nil {
		return nil, err
	}
	return newFile(info), nil
}

// open opens a file for reading.
func (o dirHandle) open(name string) (fileHandle, error) {
	f, err := o.Open(name)
	return fileHandle{f}, err
}

func (o dirHandle) readlink(name string) (string, error) { return o.Readlink(name) }

func (o dirHandle) close() { _ = o.Close() } // It was only read.

// fileHandle is a file that was opened for reading.
type fileHandle struct{ *os.File }

// read reads something, nothing at the end.
func (c fileHandle) read(buffer []byte) (int, error) {
	n, err := c.Read(buffer)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (c fileHandle) stat() (*file, error) {
	info, err := c.Stat()
	if err != nil {
		return nil, err
	}
	return newFile(info), nil
}

func (c fileHandle) close() { _ = c.Close() } // It was only read.

// newFile does not know an inode here: a large file's size and time have to do.
func newFile(info fs.FileInfo) *file {
	return &file{mode: info.Mode(), stat: stat{size: info.Size(), modified: info.ModTime().UnixNano()}}
}
