package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/render"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// showCheck prints the whole result of a check and returns failure, which is nil if the
// check passed. Each command that checks something ends with it.
func showCheck[T any](a *app, result T, failure error, text func(*render.Printer, T)) error {
	return cmp.Or(cli.Show(&a.Program, result, nil, text), failure)
}

func (a *app) showTask(result host.TaskResult, err error) error {
	return cli.Show(&a.Program, result, err, (*render.Printer).TaskResult)
}

// writeFile atomically writes a file that the user named: a reader sees either the old
// content or the new one. A path inside the project is written through the project's
// root, so that no symbolic link leads out of it. It replaces only regular files, and
// creates no directory.
//
// # Errors
//
// file-unwritable.
func writeFile(p project.Project, path string, data []byte) error {
	if err := replaceFile(p, path, data); err != nil {
		return errs.New(errs.FileUnwritable, "%s cannot be written: %w", path, safefile.Reason(err)).With("path", path)
	}
	return nil
}

func replaceFile(p project.Project, path string, data []byte) error {
	root, name, err := openParent(p, path)
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o644)
	switch info, err := root.Lstat(name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !info.Mode().IsRegular():
		return safefile.ErrNotRegular
	case err == nil:
		mode = info.Mode().Perm() // It may be closed to others.
	}
	return safefile.Replace(root, filepath.ToSlash(name), data, mode)
}

// removeFile removes a file that the user named. It does not follow a symbolic link.
//
// # Errors
//
// file-unwritable.
func removeFile(p project.Project, path string) error {
	root, name, err := openParent(p, path)
	if err == nil {
		err = errors.Join(root.Remove(name), root.Close())
	}
	if err != nil {
		return errs.New(errs.FileUnwritable, "%s cannot be removed: %w", path, safefile.Reason(err)).With("path", path)
	}
	return nil
}

// openParent opens a directory through which a file that the user named can be changed, and
// returns the file's name in it.
func openParent(p project.Project, path string) (*os.Root, string, error) {
	dir, name := filepath.Split(p.Abs(path))
	if rel, inside := p.Rel(path); inside {
		dir, name = p.Root, filepath.FromSlash(rel)
	}
	root, err := os.OpenRoot(dir)
	return root, name, err
}
