package access

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// links finds the real paths of files. It remembers those of directories, since most paths of
// a process share their directories. It is not for concurrent use.
type links struct {
	known map[string]string
	// writable are directories in which a confined process may have made a link. A link in
	// them leads nowhere else, and not into state, the directory of the ledger.
	writable []string
	state    string
}

func newLinks(writable ...string) *links {
	return &links{known: make(map[string]string), writable: writable}
}

// real resolves symbolic links. It drops paths that do not exist, may not be followed, or are
// not absolute, such as paths in the home directory if HOME is not set.
func (l *links) real(paths []string) []string {
	var all []string
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue
		}
		if resolved, err := l.resolve(filepath.Clean(path)); err == nil {
			all = append(all, resolved)
		}
	}
	return all
}

// resolve is filepath.EvalSymlinks for a clean absolute path.
func (l *links) resolve(path string) (string, error) { return l.follow(path, new(int)) }

// maxLinks is the number of links that the system follows in a path.
const maxLinks = 40

func (l *links) follow(path string, followed *int) (string, error) {
	folder, name := filepath.Split(path)
	if folder = filepath.Clean(folder); folder == path {
		return path, nil
	}
	real, known := l.known[folder]
	if !known {
		var err error
		if real, err = l.follow(folder, followed); err != nil {
			return "", err
		}
		l.known[folder] = real
	}
	path = filepath.Join(real, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.Mode()&(os.ModeSymlink|os.ModeIrregular) == 0:
		return path, err
	case info.Mode()&os.ModeIrregular != 0: // A junction of Windows.
		return filepath.EvalSymlinks(path)
	}
	if *followed++; *followed > maxLinks {
		return "", &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(real, target)
	}
	end, err := l.follow(filepath.Clean(target), followed)
	if err == nil && l.isWritable(real) && (!l.isWritable(end) || within(end, l.state)) {
		err = errors.New("a confined process could have written the symbolic link " + path + ", so name its target")
	}
	return end, err
}

func (l *links) isWritable(path string) bool {
	return slices.ContainsFunc(l.writable, func(dir string) bool { return within(path, dir) })
}
