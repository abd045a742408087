package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// nearby reaches files of a root. It keeps the folder of the last one open: paths
// come sorted, and walking to each of them again costs more than reading it.
type nearby struct {
	place
	dir  string
	last *os.Root // that of dir, nil before the first one
}

// at returns the folder that a path lies in, and the name that it has there.
func (n *nearby) at(name string) (*os.Root, string, error) {
	dir := path.Dir(name)
	if n.last == nil || dir != n.dir {
		root, err := n.OpenRoot(filepath.FromSlash(dir))
		if err != nil {
			return nil, "", err
		}
		n.close()
		n.dir, n.last = dir, root
	}
	return n.last, path.Base(name), nil
}

// lstat returns what a path is, nil where no file is there.
func (n *nearby) lstat(name string) (fs.FileInfo, error) {
	root, base, err := n.at(name)
	var info fs.FileInfo
	if err == nil {
		info, err = root.Lstat(base)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unreadable(name, err)
	case info.IsDir():
		return nil, nil // Folders do not count.
	}
	return info, nil
}

func (n *nearby) open(name string, flag int) (*os.File, error) {
	root, base, err := n.at(name)
	if err != nil {
		return nil, err
	}
	return root.OpenFile(base, flag, 0)
}

func (n *nearby) readlink(name string) (string, error) {
	root, base, err := n.at(name)
	if err != nil {
		return "", err
	}
	return root.Readlink(base)
}

func (n *nearby) close() {
	if n.last != nil {
		_ = n.last.Close() // It was only read.
	}
}
