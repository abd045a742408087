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

// stateFolder is where this program keeps its state, and ours is what counts in it: what
// people write, and what keeps the state out of version control.
const stateFolder = ".switchyard"

var stateFiles = []string{stateFolder + "/agents", stateFolder + "/prompts", stateFolder + "/" + ignoreFile}

// alwaysTracked is what decides the rounds to come and lies outside of our folder: who
// ignores it must not be able to replace the critic unseen.
var ruleFiles = []string{".nubos-pilot/agents", ".claude/agents", "switchyard.yaml", "switchyard.lock"}

// gitFolder is where git keeps its own, in a folder or behind a file.
const gitFolder = ".git"

// scanner collects what there is to look at. Paths are relative to the root, with
// slashes; "" is the root itself.
type scanner struct {
	rootDir
	ignored []string
	// alwaysTracked are the files and folders that count whatever git says.
	alwaysTracked []string
	git           *git
	dirs          *dirCache
	// paths has the files that were found, nil for one that nobody looked at yet.
	paths map[string]*file
	items map[gitKey]gitValue
	// index has the entries of the index, which are many.
	index []gitEntry
	// repos has the folders that repositories were found in.
	repos map[string]bool
	// common is what git keeps for all working trees of the outermost repository.
	common string
	notes  []string
	depth  int // of repositories in each other
}

func newScanner(p rootDir, g *git, scope Scope) *scanner {
	return &scanner{
		rootDir: p, ignored: p.local(scope.IgnorePaths), alwaysTracked: slices.Concat(stateFiles, ruleFiles, p.local(scope.AlwaysTracked)), git: g, dirs: &dirCache{rootDir: p},
		paths: make(map[string]*file), items: make(map[gitKey]gitValue), repos: make(map[string]bool),
	}
}

// local cleans paths, and leaves out those outside of the root. One that ends with a
// slash keeps it.
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

// counts reports whether a path may count, apart from what git says.
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

// enters reports whether something in a folder may count.
func (l *scanner) enters(dir string) bool { return l.counts(path.Join(dir, "any")) }

func below(name, dir string) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}

// add notes a file, with what it is where that is known.
func (l *scanner) add(name string, f *file) error {
	if !l.counts(name) {
		return nil
	}
	if l.paths[name] = f; len(l.paths) > maxFiles {
		return unreadable(".", fmt.Errorf("it has more than %d files that count", maxFiles))
	}
	return nil
}

// walk notes all files below a folder, or the file that is there. Where plain is
// set, a repository in the folder itself does not matter.
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
		case f == nil: // It is gone.
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
