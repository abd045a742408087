package project

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// ModuleSuffix is the suffix of a plugin file's name.
const ModuleSuffix = ".wasm"

// maxModules limits the plugins in a directory, and the entries of plugin_paths.
const maxModules = 256

// Modules returns the plugin files of a path in byte order: a file itself, or the .wasm
// files directly in a directory. A path inside the project is opened through its root.
//
// # Errors
//
// The codes of Read: also file-not-found for a directory without plugins, and file-too-large
// for more than maxModules.
func (p Project) Modules(ctx context.Context, path string) ([]string, error) {
	info, err := p.stat(path)
	switch {
	case err != nil:
		return nil, unusable(path, err)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := onPath(p, path, func(root *os.Root, name string) ([]fs.DirEntry, error) {
		return fs.ReadDir(root.FS(), filepath.ToSlash(name))
	}, os.ReadDir)
	if err != nil {
		return nil, unusable(path, err)
	}
	var modules []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ModuleSuffix) {
			modules = append(modules, filepath.Join(path, e.Name()))
		}
	}
	switch {
	case len(modules) == 0:
		return nil, errs.New(errs.FileNotFound, "%s: the directory holds no %s file", path, ModuleSuffix).With("path", path).
			WithHint("name the directory that the modules are in; directories below it are not searched")
	case len(modules) > maxModules:
		return nil, errs.New(errs.FileTooLarge, "%s: the directory holds more than %d plugins", path, maxModules).With("path", path).With("limit", maxModules)
	}
	return modules, nil
}

// Folder returns the absolute path of a directory that the user named, under the same rule
// as Read.
//
// # Errors
//
// The codes of Read.
func (p Project) Folder(path string) (string, error) {
	info, err := p.stat(path)
	switch {
	case err != nil:
		return "", unusable(path, err)
	case !info.IsDir():
		return "", errs.New(errs.FileUnreadable, "%s: %w", path, safefile.ErrNotFolder).With("path", path).WithHint("name a directory")
	}
	return p.Abs(path), nil
}

// Exists reports whether a path that the user named is a file or a directory, under the same
// rule as Read.
func (p Project) Exists(path string) bool {
	_, err := p.stat(path)
	return err == nil
}
