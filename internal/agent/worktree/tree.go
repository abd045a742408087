// Package worktree finds out what a process changed in a working tree, and what a draft
// changes in it.
//
// # What counts
//
// In a git repository, tracked files and files that are neither tracked nor ignored;
// elsewhere all files. Nested repositories and submodules follow the same rules. Of our own
// directory .switchyard only agents/, prompts/ and .gitignore count, ignored or not; the
// rest is our state, which other processes may write. Other files that affect later rounds
// always count: our configuration, and the agents in .nubos-pilot and .claude. Directories
// do not count. A repository that ignores the root itself has no say.
//
// A .gitignore counts even if it ignores itself, unless its whole directory is ignored from
// outside: otherwise one file could hide a directory and itself with it.
//
// Of git itself these count: HEAD and its commit, refs that replace objects, the index's
// entries and flags, the settings that apply here including the user's, hooks, the files of
// info/, an operation in progress, and other files that decide what is ignored. The times
// in the index do not count, so that git status is not a change.
//
// What belongs to another working tree of the same repository does not count: other
// branches and their settings, tags, the stash, and its files if it is inside of this one.
// If a repository keeps its refs as a reftable, all of them count.
//
// # How it is scanned
//
// Contents are hashed as they are, by us, so that no filter runs. Git is only asked for the
// list of files, and never sees the repository's configuration then: it gets a shadow
// directory instead of .git, with the repository's index and objects. So nothing that a
// repository may bring can run: no hook, file system monitor, filter, external diff, text
// conversion, pager, credential or transport helper, in submodules neither. It takes no
// lock.
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

// The limits of a scan. Whatever exceeds them is an error or noted, and never counts as
// unchanged.
const (
	// scanTimeout bounds a scan.
	scanTimeout = 2 * time.Minute
	maxFiles    = 1_000_000
	// maxContent bounds the size of a file that is hashed, and maxContents the size of
	// all of them, in bytes.
	maxContent, maxContents = 64 << 20, 2 << 30
	// maxNested bounds how deep repositories may be nested.
	maxNested = 8
)

// Snapshot is the immutable state of a working tree.
type Snapshot struct {
	files         []pathFile // sorted
	git           []gitEntry // sorted
	alwaysTracked []string
	notes         []string
	digest        string
}

// Scope says what counts in addition to git's rules. Paths are relative to the root, or
// absolute; those outside of it are ignored.
type Scope struct {
	// IgnorePaths are files that do not count. A path that ends with a slash is a
	// directory with all its contents.
	IgnorePaths []string
	// AlwaysTracked are files and directories that affect later rounds. They count even
	// if git ignores them.
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
	// These count even if git ignores them.
	for _, name := range l.alwaysTracked {
		if err == nil {
			err = l.walk(ctx, name, true)
		}
	}
	if err == nil {
		err = l.findHiddenRepos(ctx)
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

// gitEntries lists everything of git that counts.
func (l *scanner) gitEntries() []gitEntry {
	all := make([]gitEntry, 0, len(l.index)+len(l.items))
	for it, v := range l.items {
		all = append(all, gitEntry{it, v})
	}
	all = append(all, l.index...)
	slices.SortFunc(all, gitEntry.compare)
	return all
}

// Digest identifies all that counts, as "sha256:" and 64 hex digits. For a file that is
// too large to be hashed, its size, times and inode number stand for its content.
func (s *Snapshot) Digest() string { return s.digest }

// Notes says what was compared less closely than usual, and why.
func (s *Snapshot) Notes() []string { return slices.Clone(s.notes) }

// sum computes the digest. Every text is preceded by its length, so that the encoding is
// unambiguous.
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
	_ = w.Flush()
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// rootDir is the scanned directory: as an os.Root, which no link leaves, and as paths for
// git.
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

// unreadable gives an error its code and a path relative to the root, with slashes.
func unreadable(path string, err error) *errs.Error {
	return errs.New(errs.TreeUnreadable, "%q in the working tree cannot be looked at: %w", path, safefile.Reason(err)).With("path", path)
}
