package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// writeFile atomically writes a file that the user named: a reader sees either the old
// content or the new one. A path inside the project is written through the project's
// root, so that no symbolic link leads out of it. It replaces only regular files, and
// creates no directory.
//
// # Errors
//
// file-unwritable.
func writeFile(p project.Project, path string, data []byte) error {
	dir, name := filepath.Split(p.Abs(path))
	if rel, inside := p.Rel(path); inside {
		dir, name = p.Root, filepath.FromSlash(rel)
	}
	err := replaceFile(dir, name, data)
	if err == nil {
		return nil
	}
	return errs.New(errs.FileUnwritable, "%s cannot be written: %w", path, safefile.Reason(err)).With("path", path)
}

func replaceFile(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	switch info, err := root.Lstat(name); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !info.Mode().IsRegular():
		return safefile.ErrNotRegular
	}
	return safefile.Replace(root, filepath.ToSlash(name), data, 0o644)
}
