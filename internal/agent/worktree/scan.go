package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// stateFolder is our state directory, and stateFiles is what counts in it: the files that
// people write.
const stateFolder = ".switchyard"

var stateFiles = []string{stateFolder + "/agents", stateFolder + "/prompts", stateFolder + "/" + ignoreFile}

// ruleFiles affect later rounds and are outside of our directory. An agent must not be
// able to replace the critic in an ignored file.
var ruleFiles = []string{".nubos-pilot/agents", ".claude/agents", "switchyard.yaml", "switchyard.lock"}

// gitFolder is git's directory, or a file that leads to it.
const gitFolder = ".git"

// scanner collects what to compare. Paths are relative to the root, with slashes; "" is
// the root.
type scanner struct {
	rootDir
	ignored []string
	// alwaysTracked are files and directories that always count.
	alwaysTracked []string
	git           *git
	dirs          *dirCache
	// paths has the files found, nil for one that is not read yet.
	paths map[string]*file
	items map[gitKey]gitValue
	// index has the entries of the index.
	index []gitEntry
	// repos has the directories with repositories.
	repos map[string]bool
	// common is the common git directory of the outermost repository.
	common string
	notes  []string
	depth  int // of nested repositories
}

func newScanner(p rootDir, g *git, scope Scope) *scanner {
	return &scanner{
		rootDir: p, ignored: p.local(scope.IgnorePaths), alwaysTracked: slices.Concat(stateFiles, ruleFiles, p.local(scope.AlwaysTracked)), git: g, dirs: &dirCache{rootDir: p},
		paths: make(map[string]*file), items: make(map[gitKey]gitValue), repos: make(map[string]bool),
	}
}

// local cleans paths, and drops those outside of the root. It keeps a trailing slash.
func (p rootDir) local(paths []string) []string {
	var local []string
	for _, name := range paths {
		slash := ""
		if strings.HasSuffix(filepath.ToSlash(name), "/") {
			slash = "/"
		}
		if filepath.IsAbs(name) {
			base := p.real
			if rel, err := filepath.Rel(p.given, name); err == nil && filepath.IsLocal(rel) {
				base = p.given
			}
			rel, err := filepath.Rel(base, name)
			if err != nil {
				continue
			}
			name = rel
		}
		name = filepath.Clean(name)
		if filepath.IsLocal(name) && name != "." {
			local = append(local, filepath.ToSlash(name)+slash)
		}
	}
	return local
}

// counts reports whether a path may count, apart from git's rules.
func (l *scanner) counts(name string) bool {
	for _, a := range l.ignored {
		if dir, whole := strings.CutSuffix(a, "/"); name == dir || whole && below(name, dir) {
			return false
		}
	}
	if !below(name, stateFolder) {
		return true
	}
	for _, dir := range l.alwaysTracked {
		if name == dir || below(name, dir) {
			return true
		}
	}
	return false
}

// enters reports whether a file in a directory may count.
func (l *scanner) enters(dir string) bool { return l.counts(path.Join(dir, "any")) }

func below(name, dir string) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}

// add adds a file, with its metadata if known.
func (l *scanner) add(name string, f *file) error {
	if !l.counts(name) {
		return nil
	}
	if l.paths[name] = f; len(l.paths) > maxFiles {
		return unreadable(".", fmt.Errorf("it has more than %d files that count", maxFiles))
	}
	return nil
}

// walk adds all files below a directory, or the file at that path. With plain, a
// repository in the directory itself is treated as a directory.
func (l *scanner) walk(ctx context.Context, dir string, plain bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	folder, err := l.dirs.at(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return l.add(dir, nil) // It may be a file or a link.
	}
	var names []string
	if err == nil {
		names, err = folder.names()
	}
	if err != nil {
		return unreadable(dir, err)
	}
	if !plain && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, gitFolder) }) {
		repo, err := l.find(dir)
		if err != nil {
			return err
		}
		if repo != nil {
			return l.repository(ctx, dir, *repo)
		}
	}
	for _, n := range names {
		name := path.Join(dir, n)
		if n == gitFolder {
			continue
		}
		f, err := l.dirs.lstat(name)
		switch {
		case err != nil:
			return err
		case f == nil: // It was removed meanwhile.
		case !f.mode.IsDir():
			err = l.add(name, f)
		case l.enters(name):
			err = l.walk(ctx, name, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
