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

// ourFolder is where this program keeps its state, and ours is what counts in it: what
// people write, and what keeps the state out of version control.
const ourFolder = ".switchyard"

var ours = []string{ourFolder + "/agents", ourFolder + "/prompts", ourFolder + "/" + ignoreFile}

// obeyed is what decides the rounds to come and lies outside of our folder: who
// ignores it must not be able to replace the critic unseen.
var obeyed = []string{".nubos-pilot/agents", ".claude/agents", "switchyard.yaml", "switchyard.lock"}

// gitFolder is where git keeps its own, in a folder or behind a file.
const gitFolder = ".git"

// look collects what there is to look at. Paths are relative to the root, with
// slashes; "" is the root itself.
type look struct {
	place
	apart []string
	// obeyed are the files and folders that count whatever git says.
	obeyed []string
	git    *git
	near   *nearby
	// paths has the files that were found, nil for one that nobody looked at yet.
	paths map[string]*file
	items map[item]value
	// index has the entries of the index, which are many.
	index []kept
	// repos has the folders that repositories were found in.
	repos map[string]bool
	// common is what git keeps for all working trees of the outermost repository.
	common string
	notes  []string
	depth  int // of repositories in each other
}

func newLook(p place, g *git, scope Scope) *look {
	return &look{
		place: p, apart: p.local(scope.Except), obeyed: slices.Concat(ours, obeyed, p.local(scope.Obeyed)), git: g, near: &nearby{place: p},
		paths: make(map[string]*file), items: make(map[item]value), repos: make(map[string]bool),
	}
}

// local cleans paths, and leaves out those outside of the root. One that ends with a
// slash keeps it.
func (p place) local(paths []string) []string {
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
func (l *look) counts(name string) bool {
	for _, a := range l.apart {
		if dir, whole := strings.CutSuffix(a, "/"); name == dir || whole && below(name, dir) {
			return false
		}
	}
	if !below(name, ourFolder) {
		return true
	}
	for _, dir := range l.obeyed {
		if name == dir || below(name, dir) {
			return true
		}
	}
	return false
}

// enters reports whether something in a folder may count.
func (l *look) enters(dir string) bool { return l.counts(path.Join(dir, "any")) }

func below(name, dir string) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}

// add notes a file, with what it is where that is known.
func (l *look) add(name string, f *file) error {
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
func (l *look) walk(ctx context.Context, dir string, plain bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	folder, err := l.near.at(dir)
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
		f, err := l.near.lstat(name)
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
