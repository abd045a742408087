package project

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// LockFile pins the plugins of the project.
const LockFile = "switchyard.lock"

// maxLock is the maximum size of switchyard.lock, in bytes.
const maxLock = 1 << 20

// Pin pins a plugin file by its digest.
type Pin struct {
	// Path is relative to the project's root, with slashes.
	Path    string `yaml:"path" json:"path"`
	Name    string `yaml:"name" json:"name"`
	Version string `yaml:"version" json:"version"`
	// Digest is the digest of the file, "sha256:" and 64 hex digits.
	Digest string `yaml:"digest" json:"digest"`
}

// Lock is the content of switchyard.lock. The zero value pins nothing.
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
	data, err := Project{Root: p.Root, Dir: p.Root}.Read(ctx, LockFile, maxLock)
	if errs.CodeOf(err) == errs.FileNotFound {
		return Lock{}, nil
	}
	if err != nil {
		return Lock{}, err
	}
	var lock Lock
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&lock); err != nil && !errors.Is(err, io.EOF) {
		names := strings.NewReplacer("into project.Lock", "as a lock", "into []project.Pin", "as a list of pins", "into project.Pin", "as a pin")
		return Lock{}, invalidLock("%s", names.Replace(describeYAMLError(err)))
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Lock{}, invalidLock("the file holds more than one document")
	}
	seen := make(map[string]bool)
	for _, pin := range lock.Plugins {
		switch {
		case pin.Path == "" || path.Clean(pin.Path) != pin.Path || !filepath.IsLocal(filepath.FromSlash(pin.Path)):
			return Lock{}, invalidLock("%q is no path inside the project", pin.Path)
		case seen[pin.Path]:
			return Lock{}, invalidLock("%s is pinned twice", pin.Path)
		case !digest.Valid(pin.Digest):
			return Lock{}, invalidLock("the digest of %s is not sha256: and 64 hex digits", pin.Path)
		}
		seen[pin.Path] = true
	}
	return lock, nil
}

// lockHeader explains the file to its readers.
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

func invalidLock(format string, args ...any) error {
	return errs.New(errs.LockInvalid, LockFile+": "+format, args...).With("path", LockFile)
}
