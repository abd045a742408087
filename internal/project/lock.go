package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// LockFile pins the plugins of the project.
const LockFile = "switchyard.lock"

const maxLock = 1 << 20 // bytes

// Pin pins a plugin file by its digest.
type Pin struct {
	// Path is relative to the project's root, with slashes.
	Path    string `yaml:"path" json:"path"`
	Name    string `yaml:"name" json:"name"`
	Version string `yaml:"version" json:"version"`
	// Digest is the digest of the file, "sha256:" and 64 hex digits.
	Digest string `yaml:"digest" json:"digest"`
}

// Lock is the content of switchyard.lock. The zero value pins no plugins.
type Lock struct {
	Plugins []Pin `yaml:"plugins"`
}

// Find returns the pin of a file, by its path relative to the root.
func (l Lock) Find(rel string) (Pin, bool) {
	for _, pin := range l.Plugins {
		if pin.Path == filepath.ToSlash(rel) {
			return pin, true
		}
	}
	return Pin{}, false
}

// Lock reads the project's lock. Without the file it returns the zero Lock.
//
// # Errors
//
// lock-invalid, and the codes of Read.
func (p Project) Lock(ctx context.Context) (Lock, error) {
	data, err := p.AtRoot().Read(ctx, LockFile, maxLock)
	if errs.CodeOf(err) == errs.FileNotFound {
		return Lock{}, nil
	}
	if err != nil {
		return Lock{}, err
	}
	var lock Lock
	r := &reader{file: LockFile, code: errs.LockInvalid}
	err = r.read(data, func(root value) { root.mapping(fields{"plugins": lock.read}) })
	if err = cmp.Or(err, r.err()); err != nil {
		return Lock{}, err
	}
	return lock, nil
}

func (l *Lock) read(v value) {
	seen := make(map[string]bool)
	v.list(math.MaxInt, func(v value) {
		var pin Pin
		ok := v.mapping(fields{
			"path":    func(v value) { pin.Path = v.text() },
			"name":    func(v value) { pin.Name = v.text() },
			"version": func(v value) { pin.Version = v.text() },
			"digest":  func(v value) { pin.Digest = v.text() },
		})
		switch {
		case !ok:
		case pin.Path == "" || path.Clean(pin.Path) != pin.Path || !filepath.IsLocal(filepath.FromSlash(pin.Path)):
			v.fail(": %q is not a path inside the project", pin.Path)
		case seen[pin.Path]:
			v.fail(": %s is pinned twice", pin.Path)
		case !digest.Valid(pin.Digest):
			v.fail(": the digest of %s is not sha256: and 64 hex digits", pin.Path)
		}
		seen[pin.Path] = true
		l.Plugins = append(l.Plugins, pin)
	})
}

const lockHeader = "# Made by switchyard plugin lock: the plugins of plugin_paths, by digest.\n" +
	"# Who changes this file decides what counts as a finding; review it so.\n"

// WriteLock replaces the project's lock atomically.
func (p Project) WriteLock(lock Lock) error {
	var text bytes.Buffer
	text.WriteString(lockHeader)
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(lock), e.Close()); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return unwritable(LockFile, err)
	}
	defer root.Close()
	if err := safefile.Replace(root, LockFile, text.Bytes(), newFile); err != nil {
		return unwritable(LockFile, err)
	}
	return nil
}
