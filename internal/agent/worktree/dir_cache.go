package worktree

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// dirCache accesses files below the root without following links. It keeps the
// directories on the way to the last path open, since the next path is usually close. It
// is not for concurrent use.
type dirCache struct {
	rootDir
	// steps are the open directories, each in the one before; the first is the root.
	steps []step
}

type step struct {
	path string // "" is that of the place
	dirHandle
}

// at returns the directory at a path; "" and "." are the root. If there is none, the
// error is fs.ErrNotExist.
func (n *dirCache) at(dir string) (dirHandle, error) {
	if dir == "." {
		dir = ""
	}
	for last := len(n.steps) - 1; last > 0 && dir != n.steps[last].path && !below(dir, n.steps[last].path); last-- {
		n.steps[last].close()
		n.steps = n.steps[:last]
	}
	if len(n.steps) == 0 {
		top, err := openTop(n.rootDir)
		if err != nil {
			return dirHandle{}, err
		}
		n.steps = append(n.steps, step{"", top})
	}
	for {
		last := n.steps[len(n.steps)-1]
		if dir == last.path {
			return last.dirHandle, nil
		}
		name, rest, more := strings.Cut(strings.TrimPrefix(dir[len(last.path):], "/"), "/")
		next, err := last.folder(name)
		if err != nil {
			return dirHandle{}, err
		}
		end := len(dir)
		if more {
			end -= len("/") + len(rest)
		}
		n.steps = append(n.steps, step{dir[:end], next})
	}
}

// lstat returns a file's metadata, nil if it does not exist.
func (n *dirCache) lstat(name string) (*file, error) {
	dir, err := n.at(path.Dir(name))
	if err != nil {
		return nil, missing(name, err)
	}
	f, err := dir.lstat(path.Base(name))
	return f, missing(name, err)
}

// there is lstat that returns nil for directories.
func (n *dirCache) there(name string) (*file, error) {
	f, err := n.lstat(name)
	if f != nil && f.mode.IsDir() {
		return nil, err
	}
	return f, err
}

// missing gives an error its code; a missing file is not an error.
func missing(name string, err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return unreadable(name, err)
}

func (n *dirCache) open(name string) (fileHandle, error) {
	dir, err := n.at(path.Dir(name))
	if err != nil {
		return fileHandle{}, err
	}
	return dir.open(path.Base(name))
}

func (n *dirCache) readlink(name string) (string, error) {
	dir, err := n.at(path.Dir(name))
	if err != nil {
		return "", err
	}
	return dir.readlink(path.Base(name))
}

func (n *dirCache) close() {
	for _, s := range n.steps {
		s.close()
	}
	n.steps = nil
}
