package worktree

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// dirCache reaches what lies below a place. It follows no link: nothing is there
// behind one, which leads elsewhere. It keeps the folders open that lead to the last
// path: the next one is mostly near, and to walk to each of them anew would take
// longer than to read it. It is for one goroutine.
type dirCache struct {
	rootDir
	// steps are the opened folders, each in the one before; the first is the place.
	steps []step
}

type step struct {
	path string // "" is that of the place
	dirHandle
}

// at returns the folder at a path, where "" and "." are the place. Where there is
// none, the error is fs.ErrNotExist.
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

// lstat returns what a path is, nil where nothing is there.
func (n *dirCache) lstat(name string) (*file, error) {
	dir, err := n.at(path.Dir(name))
	if err != nil {
		return nil, missing(name, err)
	}
	f, err := dir.lstat(path.Base(name))
	return f, missing(name, err)
}

// there is lstat for a file: folders do not count.
func (n *dirCache) there(name string) (*file, error) {
	f, err := n.lstat(name)
	if f != nil && f.mode.IsDir() {
		return nil, err
	}
	return f, err
}

// missing gives an error its code; that nothing is there is none.
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
