package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// dirCache accesses files below the root without following links. It keeps the
// directories on the way to the last path open, since the next path is usually close. It
// is not for concurrent use.
type dirCache struct {
	root *os.Root
	// opened are the open directories, each in the previous one. The first is the root, "".
	opened []openDir
}

type openDir struct {
	path string
	dirHandle
}

// at returns the directory at a path; "" and "." are the root. If it is not a directory, the
// error is fs.ErrNotExist.
func (c *dirCache) at(dir string) (dirHandle, error) {
	if dir == "." {
		dir = ""
	}
	for last := len(c.opened) - 1; last > 0 && dir != c.opened[last].path && !below(dir, c.opened[last].path); last-- {
		c.opened[last].close()
		c.opened = c.opened[:last]
	}
	if len(c.opened) == 0 {
		top, err := openTop(c.root)
		if err != nil {
			return dirHandle{}, err
		}
		c.opened = append(c.opened, openDir{"", top})
	}
	for {
		last := c.opened[len(c.opened)-1]
		if dir == last.path {
			return last.dirHandle, nil
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(dir[len(last.path):], "/"), "/")
		next, err := last.folder(name)
		if err != nil {
			return dirHandle{}, err
		}
		c.opened = append(c.opened, openDir{strings.TrimSuffix(strings.TrimSuffix(dir, rest), "/"), next})
	}
}

func (c *dirCache) entries(dir string) ([]fs.DirEntry, error) {
	d, err := c.at(dir)
	if err != nil {
		return nil, err
	}
	return d.entries()
}

// lstat returns a file's metadata, nil if it does not exist.
func (c *dirCache) lstat(name string) (*file, error) {
	dir, err := c.at(path.Dir(name))
	var f *file
	if err == nil {
		f, err = dir.lstat(path.Base(name))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	return nil, unreadable(name, err)
}

// lstatFile is lstat, except that it returns nil for directories.
func (c *dirCache) lstatFile(name string) (*file, error) {
	f, err := c.lstat(name)
	if f != nil && f.mode.IsDir() {
		return nil, err
	}
	return f, err
}

func (c *dirCache) open(name string) (fileHandle, error) {
	dir, err := c.at(path.Dir(name))
	if err != nil {
		return fileHandle{}, err
	}
	return dir.open(path.Base(name))
}

func (c *dirCache) readlink(name string) (string, error) {
	dir, err := c.at(path.Dir(name))
	if err != nil {
		return "", err
	}
	return dir.readlink(path.Base(name))
}

func (c *dirCache) close() {
	for _, d := range c.opened {
		d.close()
	}
}
