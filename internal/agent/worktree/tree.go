// Package worktree tells what somebody changed in a working tree who should have
// changed nothing, and what a draft changes in it.
//
// # What counts
//
// Where git rules a folder, the files that it tracks and those that are neither
// tracked nor ignored; elsewhere all files. A repository inside of another one, a
// submodule too, is looked at in the same way. Of our own folder .switchyard only
// agents/, prompts/ and .gitignore count, ignored or not: the rest is our state, which
// others may write at the same time. What else the rounds to come obey counts in any case:
// our configuration, and the agents in .nubos-pilot and .claude. Folders as such do
// not count. A repository that ignores the root altogether has no say in it.
//
// A .gitignore counts even where it ignores itself, unless its whole folder is
// rootIgnored from outside: else one file could hide a folder and itself with it.
//
// Of git itself count HEAD and the commit that it leads to, the refs that replace
// objects, the index's entries and their flags, the settings that hold here, the
// user's own too, hooks, the files of info/, an operation in progress, and what else
// decides which files are ignored. The times that the index keeps do not, so that
// looking with git status is no change.
//
// What belongs to another working tree of the same repository does not count: other
// branches and their settings, tags, the stash, and its files if it lies in this
// one. If a repository keeps its refs as a reftable, all of them count.
//
// # How it is looked at
//
// Contents are hashed as they are, by us, so that no filter runs. Only what there
// is to look at is asked of git, and git never sees the repository's own
// configuration then: it is given a folder of ours in place of .git, with the
// repository's index and objects. So nothing that a repository may bring can run:
// no hook, file system monitor, filter, external diff, text conversion, pager,
// credential or transport helper, in submodules neither. It takes no lock.
package worktree

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of a look. What they cut off is never taken for unchanged.
const (
	// scanTimeout is how long it may take.
	scanTimeout = 2 * time.Minute
	// maxFiles is how many files may count.
	maxFiles = 1_000_000
	// maxContent is the largest file that is hashed, and maxContents is how much
	// all of them together may have, in bytes.
	maxContent, maxContents = 64 << 20, 2 << 30
	// maxNested is how deep repositories may lie in each other.
	maxNested = 8
)

// Snapshot is how a working tree looked. It does not change.
type Snapshot struct {
	files         []pathFile // sorted
	git           []gitEntry // sorted
	alwaysTracked []string
	notes         []string
	digest        string
}

// Scope says what counts besides what git says. Paths are relative to the root, or
// absolute; those outside of it mean nothing.
type Scope struct {
	// IgnorePaths are files that do not count. Nor does all that is below a path that ends
	// with a slash: a file that is replaced by a folder hides nothing in it.
	IgnorePaths []string
	// AlwaysTracked are files, and folders with all that is in them, which decide what is to
	// come. They count even if git ignores them.
	AlwaysTracked []string
}

// Tree is a working tree.
type Tree struct {
	Root string
	// Supervisor runs git.
	Supervisor *supervise.Supervisor
	// Environ is the caller's environment: it says where git and its settings are.
	Environ []string
}

// Snapshot scans the tree, and git's records if the root is in a repository. It takes a
// few milliseconds per thousand files. If git is not installed, all files count and the
// index does not; Notes says so.
//
// # Errors
//
// tree-unreadable, and those of the supervisor. If ctx is done, the error wraps its cause.
func (t Tree) Snapshot(ctx context.Context, scope Scope) (s *Snapshot, err error) {
	err = t.scan(ctx, scope, func(ctx context.Context, l *scanner) (err error) {
		s, err = l.take(ctx)
		return err
	})
	return s, err
}

// scan calls do with a scanner of the tree, within scanTimeout.
func (t Tree) scan(ctx context.Context, scope Scope, do func(context.Context, *scanner) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, scanTimeout, unreadable(".", errors.New("looking at it takes too long")))
	defer cancel()
	p, err := openRootDir(t.Root)
	if err != nil {
		return err
	}
	defer p.Close()
	g := newGit(t.Supervisor, t.Environ)
	l := newScanner(p, g, scope)
	defer l.dirs.close()
	return errors.Join(do(ctx, l), g.close())
}

// take looks at everything.
func (l *scanner) take(ctx context.Context) (*Snapshot, error) {
	if l.git.bin == "" {
		l.notes = append(l.notes, "git is not installed: all files count, ignored ones too, and the index does not")
	}
	repo, err := l.enclosingRepo(ctx)
	if err == nil && repo != nil {
		err = l.repository(ctx, "", *repo)
	} else if err == nil {
		err = l.walk(ctx, "", false)
	}
	// Git has no say in whether these count.
	for _, name := range l.alwaysTracked {
		if err == nil {
			err = l.walk(ctx, name, true)
		}
	}
	if err == nil {
		err = l.findPlantedRepos(ctx)
	}
	if err != nil {
		return nil, err
	}
	files, notes, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{files: files, git: l.gitEntries(), alwaysTracked: l.alwaysTracked, notes: append(l.notes, notes...)}
	s.digest = s.sum()
	return s, nil
}

// count lists all that git keeps.
func (l *scanner) gitEntries() []gitEntry {
	all := make([]gitEntry, 0, len(l.index)+len(l.items))
	for it, v := range l.items {
		all = append(all, gitEntry{it, v})
	}
	all = append(all, l.index...)
	slices.SortFunc(all, gitEntry.compare)
	return all
}

// Digest identifies all that counts, "sha256:" and 64 hex digits: the tree is the
// same where it is the same. Of a file that was too large to be hashed, its size,
// times and inode stand for its content.
func (s *Snapshot) Digest() string { return s.digest }

// Notes says what was looked at less closely than usual, and why.
func (s *Snapshot) Notes() []string { return slices.Clone(s.notes) }

// sum computes the digest. Every text is preceded by its length, so that no two
// trees are written alike.
func (s *Snapshot) sum() string {
	h := sha256.New()
	w := fields{bufio.NewWriter(h)}
	for _, f := range s.files {
		w.text("file", f.path)
		f.write(w)
	}
	for _, k := range s.git {
		w.text("git", k.path, k.of, k.text, string(k.tag))
	}
	_ = w.Flush() // A hash never fails.
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// rootDir is the folder that is looked at: as an opened root, from which no link
// leads away, and as the path that git is given.
type rootDir struct {
	*os.Root
	given, real string
}

func openRootDir(dir string) (rootDir, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return rootDir{}, unreadable(".", err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return rootDir{}, unreadable(".", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return rootDir{}, unreadable(".", err)
	}
	return rootDir{Root: root, given: given, real: real}, nil
}

// unreadable gives an error its code, and names the path, relative to the root and
// with slashes.
func unreadable(path string, err error) *errs.Error {
	return errs.New(errs.TreeUnreadable, "%q in the working tree cannot be looked at: %w", path, safefile.Reason(err)).With("path", path)
}
