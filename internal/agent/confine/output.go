package confine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Output is a file for a spawn's output. It keeps its directory open, so that it writes to the
// directory that was checked. It is valid until its Bases are closed.
type Output struct {
	folder *os.Root
	name   string
	path   string
}

// Output checks that the directory of an output file exists, and that the file is regular or
// does not exist. It does not write.
//
// # Errors
//
// spawn-path-outside, spawn-output-unsafe and spawn-output-unwritable.
func (b *Bases) Output(path string) (*Output, error) {
	full := b.abs(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err != nil {
		return nil, b.missing(errs.SpawnOutputUnwritable, full, fmt.Errorf("its directory: %w", safefile.Reason(err)))
	}
	root, below, inside := b.find(dir)
	if !inside {
		return nil, outside(full)
	}
	opened, err := root.OpenRoot(below)
	if err != nil {
		return nil, unusable(errs.SpawnOutputUnwritable, full, safefile.Confined(root, err))
	}
	o := &Output{folder: opened, name: filepath.Base(full), path: filepath.Join(dir, filepath.Base(full))}
	if err := o.check(); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	b.outputs = append(b.outputs, o)
	return o, nil
}

// Path is absolute and without symbolic links.
func (o *Output) Path() string { return o.path }

// Write atomically replaces the file's content, with permissions 0600.
//
// # Errors
//
// spawn-output-unsafe and spawn-output-unwritable, which also wraps an error of data.
// Then the old content stays.
func (o *Output) Write(data io.Reader) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := safefile.ReplaceWith(o.folder, o.name, data, safefile.Options{Mode: 0o600}); err != nil {
		return unusable(errs.SpawnOutputUnwritable, o.path, err)
	}
	return nil
}

func (o *Output) check() error {
	info, err := o.folder.Lstat(o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unusable(errs.SpawnOutputUnwritable, o.path, err)
	case !info.Mode().IsRegular():
		return unusable(errs.SpawnOutputUnsafe, o.path, errKind(info.Mode()))
	}
	return nil
}
