package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
)

const (
	// stateFolder is our state directory.
	stateFolder = ".switchyard"
	ignoreFile  = ".gitignore"
	// attributesFile says how git converts files.
	attributesFile = ".gitattributes"
	// gitFolder is git's directory, or a file that leads to it.
	gitFolder = ".git"
	gitIndex  = gitFolder + "/index"
	// gitModules says where submodules come from.
	gitModules = ".gitmodules"
)

// EffectiveFiles returns our files that affect later rounds, relative to the root: the files
// in the state directory that people write, and files outside of it. They count even if git
// ignores them, since an agent must not replace the critic in an ignored file.
func EffectiveFiles() []string {
	return []string{
		stateFolder + "/agents", stateFolder + "/prompts", stateFolder + "/" + ignoreFile,
		".nubos-pilot/agents", ".claude/agents", "switchyard.yaml", "switchyard.lock",
	}
}

// scanner collects the files to compare. Paths are relative to the root, with slashes; "" is
// the root.
type scanner struct {
	// root is the scanned directory, which links cannot leave. given is its path as the caller
	// gave it, and real the path without links.
	root        *os.Root
	given, real string
	ignored     []string
	// alwaysTracked are files and directories that always count.
	alwaysTracked []string
	git           *git
	dirs          dirCache
	names         []string // of the files found, with duplicates
	items         map[gitKey]gitValue
	repos         map[string]bool // directories with repositories
	common        string          // the common git directory of the outermost repository
	depth         int             // of nested repositories
	cache         *Cache
	reread        func(path string) bool
	latest, now   *Snapshot // the latest snapshot in the cache, and Tree.Now
	listing       *listing  // of the outermost repository
	listed        bool      // listing is the one of the latest snapshot
	began         time.Time // before any file was looked at
	// latestNow is the current metadata of the latest snapshot's files, nil if it was not
	// read.
	latestNow []*file
}

// scan calls do with a scanner of the tree, within scanTimeout.
func (t Tree) scan(ctx context.Context, scope Scope, do func(context.Context, *scanner) error) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scanTimeout, unreadable(".", errors.New("looking at it takes too long")))
	defer cancel()
	s := &scanner{began: time.Now(), cache: t.Cache, now: t.Now, reread: t.rereads(), items: make(map[gitKey]gitValue), repos: make(map[string]bool)}
	if s.given, err = filepath.Abs(t.Root); err != nil {
		return unreadable(".", err)
	}
	if s.real, err = filepath.EvalSymlinks(s.given); err != nil {
		return unreadable(".", err)
	}
	if s.root, err = os.OpenRoot(s.real); err != nil {
		return unreadable(".", err)
	}
	defer s.root.Close()
	s.latest = cmp.Or(s.cache.get(s.real).latest, &Snapshot{})
	s.ignored = s.local(scope.IgnorePaths)
	s.alwaysTracked = slices.Concat(EffectiveFiles(), s.local(scope.AlwaysTracked))
	if scope.TaskTree {
		s.alwaysTracked = append(s.alwaysTracked, stateFolder)
	}
	s.dirs.root = s.root
	defer s.dirs.close()
	s.git = &git{supervisor: t.Supervisor, environ: t.Environ, bin: childenv.LookPath(t.Environ, "git")}
	return errors.Join(do(ctx, s), s.git.close())
}

// local cleans paths, and drops paths outside of the root. It keeps a trailing slash.
func (s *scanner) local(paths []string) []string {
	var local []string
	for _, name := range paths {
		slash := ""
		if strings.HasSuffix(filepath.ToSlash(name), "/") {
			slash = "/"
		}
		name = filepath.Clean(name)
		for _, base := range []string{s.given, s.real} {
			if rel, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rel) {
				name = rel
				break
			}
		}
		if filepath.IsLocal(name) && name != "." {
			local = append(local, filepath.ToSlash(name)+slash)
		}
	}
	return local
}

// counts reports whether a path may count, without regard to git's rules.
func (s *scanner) counts(name string) bool {
	for _, a := range s.ignored {
		if dir, whole := strings.CutSuffix(a, "/"); name == dir || whole && below(name, dir) {
			return false
		}
	}
	return !below(name, stateFolder) || slices.ContainsFunc(s.alwaysTracked, func(dir string) bool { return name == dir || below(name, dir) })
}

// enters reports whether a file in a directory may count.
func (s *scanner) enters(dir string) bool { return s.counts(path.Join(dir, "any")) }

func below(name, dir string) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && strings.HasPrefix(name, dir)
}

func (s *scanner) take(ctx context.Context) (*Snapshot, error) {
	repo, err := s.enclosingRepo(ctx)
	if err == nil && repo != nil {
		err = s.repository(ctx, "", *repo)
	} else if err == nil {
		err = s.walk(ctx, "")
	}
	if err == nil {
		err = s.walkDeciding(ctx)
	}
	if err == nil {
		err = s.findHiddenRepos(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.snapshot(ctx)
}

// walkDeciding adds the files that count even if git ignores them.
func (s *scanner) walkDeciding(ctx context.Context) error {
	for _, name := range s.alwaysTracked {
		if err := s.walk(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns a snapshot of the files that were found, or the latest snapshot if there is
// no change.
func (s *scanner) snapshot(ctx context.Context) (*Snapshot, error) {
	latest := s.latest
	files, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if latest.files != nil && s.listing == latest.listing && slices.Equal(files, latest.files) && maps.Equal(s.items, latest.git) &&
		slices.Equal(s.alwaysTracked, latest.alwaysTracked) {
		return latest, nil
	}
	shot := newSnapshot(files, s.items, s.listing, s.alwaysTracked)
	s.cache.update(s.real, func(tree *treeInfo) { tree.latest = shot })
	return shot, nil
}

func (s *scanner) add(name string) error {
	if !s.counts(name) {
		return nil
	}
	if s.names = append(s.names, name); len(s.names) > maxFiles {
		return tooManyFiles()
	}
	return nil
}

func tooManyFiles() error {
	return unreadable(".", fmt.Errorf("it has more than %d files that count", maxFiles))
}

// walk adds all files below a directory, or the file at that path. Nested repositories
// follow their own rules.
func (s *scanner) walk(ctx context.Context, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := s.dirs.entries(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s.add(dir) // It may be a file or a link.
	}
	if err != nil {
		return unreadable(dir, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Name() == gitFolder:
		case !e.IsDir():
			err = s.add(name)
		case s.enters(name):
			err = s.walkNested(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkNested is walk for a directory that may be a repository.
func (s *scanner) walkNested(ctx context.Context, dir string) error {
	f, err := s.dirs.lstat(path.Join(dir, gitFolder))
	var r *repo
	if err == nil && f != nil {
		r, err = s.find(dir)
	}
	switch {
	case err != nil:
		return err
	case r != nil:
		return s.repository(ctx, dir, *r)
	default:
		return s.walk(ctx, dir)
	}
}
