// Package worktree finds the changes of a process, or of a draft, in a working tree.
//
// # What counts
//
// In a git repository, tracked files and untracked files that are not ignored count; elsewhere
// all files. Nested repositories and submodules follow the same rules. In our own directory
// .switchyard, only agents/, prompts/ and .gitignore count, ignored or not; the rest is our
// state, which other processes may write, unless the tree belongs to a task. Other files that
// affect later rounds always count: our configuration, and the agents in .nubos-pilot and
// .claude. Directories do not count, except for whether that of a submodule exists. A repository that
// ignores the root itself is not used.
//
// A .gitignore counts even if it ignores itself, unless a file outside of its directory
// ignores that. Otherwise one file could hide a directory together with itself.
//
// Of git itself, the following count: HEAD and its commit, refs that replace objects, the
// entries and flags of the index, the settings that apply here including the user's, hooks,
// the files of info/, an operation in progress, and other files with ignore rules. The times
// in the index do not count, so that git status is not a change.
//
// Things that belong to other working trees of the same repository do not count: other
// branches and their settings, tags, the stash, and the files of a working tree that is inside
// of this one. If a repository stores its refs as a reftable, all refs count.
//
// # How it is scanned
//
// We hash the contents of files ourselves, so that filters do not run. Git only lists the
// files, and does not see the repository's configuration: it gets a shadow directory instead
// of .git, with the repository's index and objects. So it cannot run programs that a
// repository may bring, such as hooks, file system monitors, filters, external diffs, text
// conversions, pagers, credential and transport helpers, in submodules either. It does not
// take locks.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// The limits of a scan. A tree that exceeds them is an error, or has a note, and never counts
// as unchanged.
const (
	// scanTimeout bounds a scan.
	scanTimeout = 2 * time.Minute
	maxFiles    = 1_000_000
	// maxContent bounds the size of a file that is hashed, and maxContents the size of
	// all of them, in bytes.
	maxContent, maxContents = 64 << 20, 2 << 30
)

// Snapshot is the immutable state of a working tree.
type Snapshot struct {
	files         []entry             // sorted by path
	git           map[gitKey]gitValue // without the index of the outermost repository
	listing       *listing            // of the outermost repository, or nil
	alwaysTracked []string
	digest        string
}

// find returns the index of the file at a path.
func (s *Snapshot) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(e entry, path string) int { return strings.Compare(e.path, path) })
}

func (s *Snapshot) file(path string) *file {
	if i, ok := s.find(path); ok {
		return s.files[i].file
	}
	return nil
}

func (s *Snapshot) paths() []string {
	paths := make([]string, len(s.files))
	for i, e := range s.files {
		paths[i] = e.path
	}
	return paths
}

// Scope defines what counts in addition to git's rules. Paths are relative to the root, or
// absolute; paths outside of the root are ignored.
type Scope struct {
	// IgnorePaths are files that do not count. A path that ends with a slash is a
	// directory with all its contents.
	IgnorePaths []string
	// AlwaysTracked are files and directories that affect later rounds. They count even
	// if git ignores them.
	AlwaysTracked []string
	// TaskTree is set if the tree belongs to a task and is not the project's root. We do not
	// write to its .switchyard, so all files there count.
	TaskTree bool
}

// Reread selects the files that are read again although their metadata did not change.
type Reread int

// The choices.
const (
	RereadNone Reread = iota
	// RereadDraft selects the files that differed from the base at the last call of Diff, or
	// all files before the first call. Only these get into a commit of the draft with their
	// contents on the disk.
	RereadDraft
	RereadAll
)

// Tree is a working tree.
type Tree struct {
	Root string
	// Supervisor runs git.
	Supervisor *supervise.Supervisor
	// Environ is the caller's environment, by which git and its settings are found.
	Environ []string
	// Cache has the contents from earlier snapshots; it may be nil. Reread selects files that
	// are read even if the cache has them: the snapshot after an agent that was not to change
	// anything must not rely on metadata.
	Cache  *Cache
	Reread Reread
	// Now is the latest snapshot of the tree, nil if unknown. With it and a Cache, Diff reads
	// only the files that changed since its last call, and those in Commit.
	Now *Snapshot
	// Commit has the paths that a commit of the tree would change. Attributes and filters can
	// change what git commits of a file that did not change.
	Commit []string
}

// Snapshot scans the tree, and git's records if the root is in a repository. It takes a
// few milliseconds per thousand files. If git is not installed, all files count and the
// index does not; Notes says so.
//
// # Errors
//
// tree-unreadable, and errors from the supervisor. If ctx is done, the error wraps its cause.
func (t Tree) Snapshot(ctx context.Context, scope Scope) (s *Snapshot, err error) {
	err = t.scan(ctx, scope, func(ctx context.Context, scanner *scanner) (err error) {
		s, err = scanner.take(ctx)
		return err
	})
	if err == nil {
		t.Cache.snapshotTaken(t.Root, s)
	}
	return s, err
}

// Deciding is Snapshot for only the files that affect later rounds: Scope.AlwaysTracked, our
// configuration, and the definitions and prompts of agents. It takes the tree for the
// project's root and ignores Scope.TaskTree.
//
// # Errors
//
// The errors of Snapshot.
func (t Tree) Deciding(ctx context.Context, scope Scope) (s *Snapshot, err error) {
	scope.TaskTree, t.Cache = false, nil
	err = t.scan(ctx, scope, func(ctx context.Context, scanner *scanner) error {
		if err := scanner.walkDeciding(ctx); err != nil {
			return err
		}
		s, err = scanner.snapshot(ctx)
		return err
	})
	return s, err
}

// Digest identifies everything that counts, as "sha256:" and 64 hex digits. For a file that is
// too large to be hashed, it covers the size, times and inode number instead of the content.
func (s *Snapshot) Digest() string { return s.digest }

// newSnapshot returns a snapshot with its digest. The digest quotes names and values, so that
// the encoding is unambiguous.
func newSnapshot(files []entry, git map[gitKey]gitValue, l *listing, alwaysTracked []string) *Snapshot {
	h := sha256.New()
	var line []byte
	for _, f := range files {
		line = append(appendQuoted(append(line[:0], "file "...), f.path), ' ')
		line = append(strconv.AppendUint(line, uint64(f.mode), 8), ' ')
		switch {
		case f.hashed:
			line = hex.AppendEncode(append(line, "content "...), f.sum[:])
		case f.mode.IsRegular():
			line = fmt.Appendf(line, "stat %d", f.stat)
		default:
			line = append(line, "other"...)
		}
		h.Write(append(line, '\n'))
	}
	if l != nil {
		h.Write(fmt.Appendf(line[:0], "index %x\n", l.sum))
	}
	keys := slices.SortedFunc(maps.Keys(git), compareKeys)
	for _, key := range keys {
		line = append(line[:0], "git "...)
		for _, text := range []string{key.path, key.of, git[key].text} {
			line = append(appendQuoted(line, text), ' ')
		}
		h.Write(append(strconv.AppendUint(line, uint64(git[key].tag), 10), '\n'))
	}
	return &Snapshot{files: files, git: git, listing: l, alwaysTracked: alwaysTracked, digest: "sha256:" + hex.EncodeToString(h.Sum(nil))}
}

// appendQuoted is strconv.AppendQuote, but faster for most names.
func appendQuoted(line []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(line, text)
		}
	}
	return append(append(append(line, '"'), text...), '"')
}

// unreadable returns err with its code and a path relative to the root, with slashes.
func unreadable(path string, err error) *errs.Error {
	return errs.New(errs.TreeUnreadable, "%q in the working tree cannot be looked at: %w", path, safefile.Reason(err)).With("path", path)
}
