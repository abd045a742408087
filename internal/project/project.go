// Package project finds or initializes a project, reads its configuration, opens files
// that the user names, and writes its STATE.md.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// The names that mark a project's root.
const (
	StateDir   = ".switchyard"
	ConfigFile = "switchyard.yaml"
	gitDir     = ".git"
)

// Project is a project's root and the user's directory.
type Project struct {
	// Root is the absolute path of the nearest directory, from Dir upwards, that has
	// .switchyard, switchyard.yaml or .git. Without such a directory it is Dir.
	Root string
	// Dir is the absolute path of the directory that relative paths start from.
	Dir string
}

// Find returns the project that contains the directory dir.
func Find(dir string) (Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Project{}, err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = safefile.ErrNotFolder
	}
	if err != nil {
		return Project{}, fmt.Errorf("%s: %w", dir, safefile.Reason(err))
	}
	for at := dir; ; at = filepath.Dir(at) {
		for _, marker := range []string{StateDir, ConfigFile, gitDir} {
			if _, err := os.Lstat(filepath.Join(at, marker)); err == nil {
				return Project{Root: at, Dir: dir}, nil
			} else if !errors.Is(err, fs.ErrNotExist) {
				break // The directory cannot be searched.
			}
		}
		if at == filepath.Dir(at) {
			return Project{Root: dir, Dir: dir}, nil
		}
	}
}

// GitAbove returns the nearest directory above Dir that has .git, or "" if there is none or Dir
// has .git itself.
func (p Project) GitAbove() string {
	for at := p.Dir; ; at = filepath.Dir(at) {
		_, err := os.Lstat(filepath.Join(at, gitDir))
		switch {
		case err == nil && at != p.Dir:
			return at
		case err == nil || at == filepath.Dir(at):
			return ""
		}
	}
}

// AtRoot returns the project with Dir at the root, for paths in the project's own files.
func (p Project) AtRoot() Project { return Project{Root: p.Root, Dir: p.Root} }

// State returns the path of the project's state directory. It need not exist.
func (p Project) State() string { return filepath.Join(p.Root, StateDir) }
