//go:build !unix

package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// opened is an opened folder. What lies in it is reached by its name.
type opened struct{ *os.Root }

// openTop opens a place itself.
func openTop(p place) (opened, error) {
	root, err := p.OpenRoot(".")
	return opened{root}, err
}

// folder opens a folder. Without one of that name, the error is fs.ErrNotExist.
func (o opened) folder(name string) (opened, error) {
	info, err := o.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return opened{}, err
	}
	root, err := o.OpenRoot(name)
	return opened{root}, err
}

// names lists the folder, in no order.
func (o opened) names() ([]string, error) {
	f, err := o.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

func (o opened) lstat(name string) (*file, error) {
	info, err := o.Lstat(name)
	if err != nil {
		return nil, err
	}
	return newFile(info), nil
}

// open opens a file for reading.
func (o opened) open(name string) (content, error) {
	f, err := o.Open(name)
	return content{f}, err
}

func (o opened) readlink(name string) (string, error) { return o.Readlink(name) }

func (o opened) close() { _ = o.Close() } // It was only read.

// content is a file that was opened for reading.
type content struct{ *os.File }

// read reads something, nothing at the end.
func (c content) read(buffer []byte) (int, error) {
	n, err := c.Read(buffer)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (c content) stat() (*file, error) {
	info, err := c.Stat()
	if err != nil {
		return nil, err
	}
	return newFile(info), nil
}

func (c content) close() { _ = c.Close() } // It was only read.

// newFile does not know an inode here: a large file's size and time have to do.
func newFile(info fs.FileInfo) *file {
	return &file{mode: info.Mode(), stat: stat{size: info.Size(), modified: info.ModTime().UnixNano()}}
}
