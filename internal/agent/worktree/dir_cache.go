package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// dirCache accesses files below the root without following links. It keeps the
// directories on the way to the last path open, since the next path is usually close, and
// os.Root opens every directory on the way to a file. It is not for concurrent use.
type dirCache struct {
	root *os.Root
	// opened are the open directories below the root, each in the one before.
	opened []openDir
}

type openDir struct {
	path string
	*os.Root
}

// at returns the directory at a path; "" and "." are the root. If there is none, the
// error is fs.ErrNotExist.
func (c *dirCache) at(dir string) (*os.Root, error) {
	last := openDir{"", c.root}
	for ; len(c.opened) > 0; c.opened = c.opened[:len(c.opened)-1] {
		if last = c.opened[len(c.opened)-1]; dir == last.path || below(dir, last.path) {
			break
		}
		_ = last.Close()
		last = openDir{"", c.root}
	}
	if dir == "." || dir == last.path {
		return last.Root, nil
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(dir[len(last.path):], "/"), "/") {
		next, err := openSubdir(last.Root, name)
		if err != nil {
			return nil, err
		}
		last = openDir{path.Join(last.path, name), next}
		c.opened = append(c.opened, last)
	}
	return last.Root, nil
}

// openSubdir opens a directory. If there is none, or a link, the error is fs.ErrNotExist.
func openSubdir(parent *os.Root, name string) (*os.Root, error) {
	seen, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, fs.ErrNotExist
	}
	dir, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// OpenRoot follows links, so check that it opened the directory seen.
	if info, err := dir.Stat("."); err != nil || !os.SameFile(seen, info) {
		return nil, errors.Join(err, errChanging, dir.Close())
	}
	return dir, nil
}

// entries lists a directory.
func (c *dirCache) entries(dir string) ([]fs.DirEntry, error) {
	root, err := c.at(dir)
	if err != nil {
		return nil, err
	}
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// lstat returns a file's metadata, nil if it does not exist.
func (c *dirCache) lstat(name string) (*file, error) {
	dir, err := c.at(path.Dir(name))
	var info fs.FileInfo
	if err == nil {
		info, err = dir.Lstat(path.Base(name))
	}
	switch {
	case err == nil:
		return &file{mode: info.Mode(), stat: statOf(info)}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	default:
		return nil, unreadable(name, err)
	}
}

// there is lstat that returns nil for directories.
func (c *dirCache) there(name string) (*file, error) {
	f, err := c.lstat(name)
	if f != nil && f.mode.IsDir() {
		return nil, err
	}
	return f, err
}

// open opens a file for reading without waiting for a pipe. It may follow a link: the
// caller compares the metadata.
func (c *dirCache) open(name string) (*os.File, error) {
	dir, err := c.at(path.Dir(name))
	if err != nil {
		return nil, err
	}
	return dir.OpenFile(path.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (c *dirCache) readlink(name string) (string, error) {
	dir, err := c.at(path.Dir(name))
	if err != nil {
		return "", err
	}
	return dir.Readlink(path.Base(name))
}

func (c *dirCache) close() {
	for _, d := range c.opened {
		_ = d.Close()
	}
}
