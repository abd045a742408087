//go:build !unix

package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// dirHandle is an open directory.
type dirHandle struct{ *os.Root }

func openTop(root *os.Root) (dirHandle, error) {
	top, err := root.OpenRoot(".")
	return dirHandle{top}, err
}

// folder opens a subdirectory. If the name is not one, the error is fs.ErrNotExist.
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

func (o dirHandle) entries() ([]fs.DirEntry, error) { return fs.ReadDir(o.FS(), ".") }

func (o dirHandle) lstat(name string) (*file, error) {
	info, err := o.Lstat(name)
	if err != nil {
		return nil, err
	}
	return newFile(info), nil
}

func (o dirHandle) open(name string) (fileHandle, error) {
	f, err := o.Open(name)
	return fileHandle{f}, err
}

func (o dirHandle) readlink(name string) (string, error) { return o.Readlink(name) }

func (o dirHandle) close() { _ = o.Close() }

type fileHandle struct{ *os.File }

// read returns 0 at the end of the file.
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

func (c fileHandle) close() { _ = c.Close() }

// newFile returns no inode number here, so only size and time identify a large file.
func newFile(info fs.FileInfo) *file {
	return &file{mode: info.Mode(), stat: stat{size: info.Size(), modified: info.ModTime().UnixNano()}}
}
