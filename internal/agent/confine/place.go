// Package confine opens the files of a spawn: the prompt that it reads and the output that it
// writes. Both must be in the project or in the temporary directory. An agent may have
// prepared the contents of these, so files are opened through open directories, which symbolic
// links cannot leave, instead of paths that were checked before.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Bases are the directories that may contain the files. They are not for concurrent use.
type Bases struct {
	dir     string
	roots   []*os.Root
	outputs []*Output
}

// Open opens the project and the temporary directory. Relative paths start at dir, which may
// be another directory. The caller must close the result.
//
// # Errors
//
// spawn-base-missing.
func Open(project, temp, dir string) (*Bases, error) {
	b := &Bases{dir: dir}
	for _, path := range []string{project, temp} {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, errors.Join(unusable(errs.SpawnBaseMissing, path, err), b.Close())
		}
		b.roots = append(b.roots, root)
	}
	return b, nil
}

// Close closes the directories, including the directories of the outputs.
func (b *Bases) Close() error {
	var err error
	for _, o := range b.outputs {
		err = errors.Join(err, o.folder.Close())
	}
	for _, root := range b.roots {
		err = errors.Join(err, root.Close())
	}
	return err
}

// abs returns the absolute path for a path of the user.
func (b *Bases) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(b.dir, path)
}

// find returns the base that contains a resolved path, and the relative path. It compares
// directories instead of names, which may differ by links, mounts and case.
func (b *Bases) find(real string) (*os.Root, string, bool) {
	below := "."
	for at := real; ; {
		if info, err := os.Stat(at); err == nil {
			for _, root := range b.roots {
				if base, err := root.Stat("."); err == nil && os.SameFile(info, base) {
					return root, below, true
				}
			}
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil, "", false
		}
		below = filepath.Join(filepath.Base(at), below)
		at = parent
	}
}

// missing returns the error for a path that does not exist. spawn-path-outside takes
// precedence.
func (b *Bases) missing(code errs.Code, full string, err error) error {
	if _, _, inside := b.find(filepath.Dir(full)); !inside {
		return outside(full)
	}
	return unusable(code, full, err)
}

func outside(path string) *errs.Error {
	name := filepath.Base(path)
	return errs.New(errs.SpawnPathOutside, "%s lies neither in the project nor in the temporary directory", name).With("path", name)
}

// unusable gives an error of the file system its code, and drops the path. A link out of
// a root is always spawn-path-outside.
func unusable(code errs.Code, path string, err error) *errs.Error {
	if errors.Is(err, safefile.ErrOutside) {
		return outside(path).Because(err)
	}
	name := filepath.Base(path)
	return errs.New(code, "%s: %w", name, safefile.Reason(err)).With("path", name)
}

// errKind returns the error for a file that is not regular.
func errKind(mode fs.FileMode) error {
	switch {
	case mode&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link")
	case mode.IsDir():
		return errors.New("it is a directory")
	}
	return fmt.Errorf("it is not a regular file (%s)", mode.Type())
}
