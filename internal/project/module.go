package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// ModuleSuffix is how the name of a plugin's file ends.
const ModuleSuffix = ".wasm"

// maxModules is how many plugins a folder may hold, and how many files and folders
// plugin_paths may name.
const maxModules = 256

// Modules returns the plugin files that a path names, in byte order: a file is
// itself, a folder the .wasm files in it, not those in folders below. A path
// inside the project is looked up through its root.
//
// # Errors
//
// The codes of Read. A folder without a plugin is file-not-found, and one with more
// than maxModules is file-too-large.
func (p Project) Modules(ctx context.Context, path string) ([]string, error) {
	names, err := p.list(path)
	if err != nil {
		return nil, unusable(path, err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if names == nil {
		return []string{path}, nil
	}
	var modules []string
	for _, name := range names {
		if strings.HasSuffix(name, ModuleSuffix) {
			modules = append(modules, filepath.Join(path, name))
		}
	}
	switch {
	case len(modules) == 0:
		return nil, errs.New(errs.FileNotFound, "%s: the folder holds no %s file", path, ModuleSuffix).With("path", path).
			WithHint("name the folder that the modules are in; folders below it are not searched")
	case len(modules) > maxModules:
		return nil, errs.New(errs.FileTooLarge, "%s: the folder holds more than %d plugins", path, maxModules).With("path", path).With("limit", maxModules)
	}
	slices.Sort(modules)
	return modules, nil
}

// list returns the names in a folder, or nil where the path is no folder.
func (p Project) list(path string) ([]string, error) {
	full := p.abs(path)
	var folder fs.FS = os.DirFS(filepath.Dir(full))
	name := filepath.Base(full)
	if rel, inside := p.inside(full); inside {
		root, err := os.OpenRoot(p.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		folder, name = root.FS(), filepath.ToSlash(rel)
	}
	info, err := fs.Stat(folder, name)
	if err != nil || !info.IsDir() {
		return nil, err
	}
	entries, err := fs.ReadDir(folder, name)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Folder returns the absolute path of a folder that the user named, under the same
// rule as Read.
//
// # Errors
//
// The codes of Read.
func (p Project) Folder(path string) (string, error) {
	names, err := p.list(path)
	if err == nil && names == nil {
		err = errors.New("not a folder")
	}
	if err != nil {
		return "", unusable(path, err)
	}
	return p.abs(path), nil
}

// Exists reports whether a path that the user named is a file or a folder, under
// the same rule as Read.
func (p Project) Exists(path string) bool {
	full := p.abs(path)
	rel, inside := p.inside(full)
	if !inside {
		_, err := os.Stat(full)
		return err == nil
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(rel)
	return err == nil
}

// Abs returns the absolute path of what the user named.
func (p Project) Abs(path string) string { return p.abs(path) }

// Rel returns a path relative to the project's root, its folders joined by
// slashes, and whether it lies inside.
func (p Project) Rel(path string) (string, bool) {
	rel, inside := p.inside(p.abs(path))
	return filepath.ToSlash(rel), inside
}
