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

// Output is a place for the output of a spawn. It keeps its folder open, so that it
// writes where it looked. It can be used until its Bases are closed.
type Output struct {
	folder *os.Root
	name   string
	path   string
}

// Output prepares a place for an output: its folder is there, and the file is a
// regular one or is not there yet. Nothing is written.
//
// # Errors
//
// spawn-path-outside, spawn-output-unsafe and spawn-output-unwritable.
func (b *Bases) Output(path string) (*Output, error) {
	full := b.abs(path)
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err != nil {
		return nil, b.missing(errs.SpawnOutputUnwritable, full, fmt.Errorf("its folder: %w", safefile.Reason(err)))
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

// Path returns the absolute path of the output, without symbolic links.
func (o *Output) Path() string { return o.path }

// Write gives the file the content that data has, for its owner alone (0600). There
// is the whole content or what was there before, also after a loss of power.
//
// # Errors
//
// spawn-output-unsafe and spawn-output-unwritable, which also wraps an error of data.
// Nothing is left behind by either.
func (o *Output) Write(data io.Reader) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := safefile.ReplaceWith(o.folder, o.name, data, safefile.Options{Mode: 0o600}); err != nil {
		return unusable(errs.SpawnOutputUnwritable, o.path, err)
	}
	return nil
}

// check looks at what is there under the output's name.
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
