package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// ourFolder is where this program keeps its state, and ourFolders are those in it
// that people write.
const ourFolder = ".switchyard"

var ourFolders = []string{ourFolder + "/agents", ourFolder + "/prompts"}

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
	git   *git
	paths map[string]bool
	items map[item]value
	// repos has the folders that repositories were found in.
	repos map[string]bool
	// folders has those that were met: whether they are folders, and behind no link.
	folders map[string]bool
	notes   []string
	depth   int // of repositories in each other
}

func newLook(p place, g *git, except []string) *look {
	return &look{
		place: p, apart: p.apart(except), git: g,
		paths: make(map[string]bool), items: make(map[item]value), repos: make(map[string]bool), folders: make(map[string]bool),
	}
}

// apart cleans the paths that do not count; those of folders keep their slash. One
// outside of the root excludes nothing.
func (p place) apart(paths []string) []string {
	var apart []string
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
			apart = append(apart, filepath.ToSlash(name)+slash)
		}
	}
	return apart
}

// counts reports whether a path may count, apart from what git says.
func (l *look) counts(name string) bool {
	for _, a := range l.apart {
		if name == a || strings.HasPrefix(name+"/", a) && strings.HasSuffix(a, "/") {
			return false
		}
	}
	if !below(name, ourFolder) {
		return true
	}
	for _, dir := range ourFolders {
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

// add notes a file.
func (l *look) add(name string) error {
	if !l.counts(name) {
		return nil
	}
	if l.paths[name] = true; len(l.paths) > maxFiles {
		return unreadable(".", fmt.Errorf("it has more than %d files that count", maxFiles))
	}
	return nil
}

// there returns what a path is, nil where no file is there. Nothing is there
// behind a link: that leads elsewhere.
func (l *look) there(n *nearby, name string) (fs.FileInfo, error) {
	if !l.folder(path.Dir(name)) {
		return nil, nil
	}
	return n.lstat(name)
}

// folder reports whether a path is a folder that no link leads to. One that cannot
// be looked at is taken for one: what is in it cannot be looked at either.
func (l *look) folder(name string) bool {
	if name == "." || name == "" {
		return true
	}
	if known, ok := l.folders[name]; ok {
		return known
	}
	is := false
	if l.folder(path.Dir(name)) {
		info, err := l.place.Lstat(filepath.FromSlash(name))
		is = err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	l.folders[name] = is
	return is
}

// walk notes all files below a folder, or the file that is there. Where plain is
// set, a repository in the folder itself does not matter.
func (l *look) walk(ctx context.Context, dir string, plain bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !l.folder(dir) {
		return l.add(dir) // It may be a link.
	}
	if !plain {
		repo, err := l.find(dir)
		if err != nil {
			return err
		}
		if repo != nil {
			return l.repository(ctx, dir, *repo)
		}
	}
	entries, err := l.entries(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == gitFolder:
		case !e.IsDir():
			err = l.add(name)
		case l.enters(name):
			err = l.walk(ctx, name, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries lists a folder, of which nothing is left where it is gone.
func (p place) entries(dir string) ([]fs.DirEntry, error) {
	f, err := p.Open(filepath.FromSlash(path.Clean(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return entries, nil
}
