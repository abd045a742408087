package worktree

import (
	"cmp"
	"maps"
	"slices"
)

// Kind is how something changed.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Content Kind = "content"
	Mode    Kind = "mode"
	Type    Kind = "type" // for example, a file became a link
	Git     Kind = "git"  // git's own files
)

// Change is one difference between two snapshots.
type Change struct {
	// Path is relative to the root, with slashes. It need not be valid UTF-8. Paths of
	// git's own files begin with .git/, after the directory of a nested repository.
	Path string
	Kind Kind
	// Detail says more if the path does not say everything, else "".
	Detail string
	// Ordinary says that normal work in a tree makes this change: a file is written or
	// added that affects no later round, or something is staged or committed. Other
	// changes may remove something, run something, or affect later rounds.
	Ordinary bool
}

// ordinary are git's files that change with every commit.
var ordinary = []string{gitFolder + "/HEAD", gitFolder + "/index"}

// ordinary reports whether a change to the file is one of normal work.
func (s *Snapshot) ordinary(path string, kind Kind, is file) bool {
	return (kind == Content || kind == Added) && is.mode.IsRegular() && !slices.ContainsFunc(s.alwaysTracked, func(o string) bool {
		return path == o || below(path, o)
	})
}

// Compare lists the differences, sorted by path, kind and detail. It is empty exactly if
// the digests are equal.
func Compare(before, after *Snapshot) []Change {
	var changes []Change
	pairs(before.files, after.files, pathFile.compare, func(was, is *pathFile) {
		switch {
		case is == nil:
			changes = append(changes, Change{Path: was.path, Kind: Removed})
		case was == nil:
			changes = append(changes, Change{Path: is.path, Kind: Added, Ordinary: after.ordinary(is.path, Added, is.file)})
		default:
			for _, kind := range was.changes(is.file) {
				changes = append(changes, Change{Path: is.path, Kind: kind, Ordinary: after.ordinary(is.path, kind, is.file)})
			}
		}
	})
	pairs(before.git, after.git, gitEntry.compare, func(was, is *gitEntry) {
		switch {
		case is == nil:
			changes = append(changes, was.change(&was.gitValue, nil))
		case was == nil:
			changes = append(changes, is.change(nil, &is.gitValue))
		case was.gitValue != is.gitValue:
			changes = append(changes, is.change(&was.gitValue, &is.gitValue))
		}
	})
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

// Rewritten lists those of paths that were rewritten with the same content between two
// snapshots.
func Rewritten(before, after *Snapshot, paths []string) []Change {
	var changes []Change
	pairs(before.files, after.files, pathFile.compare, func(was, is *pathFile) {
		if was != nil && is != nil && was.stat != is.stat && len(was.changes(is.file)) == 0 && slices.Contains(paths, is.path) {
			changes = append(changes, Change{Path: is.path, Kind: Content, Detail: "written again"})
		}
	})
	return changes
}

// pairs calls each with the entries of two sorted lists that have the same name, nil if a
// list has none.
func pairs[T any](before, after []T, compare func(a, b T) int, each func(was, is *T)) {
	for len(before) > 0 || len(after) > 0 {
		order := 0
		switch {
		case len(before) == 0:
			order = 1
		case len(after) == 0:
			order = -1
		default:
			order = compare(before[0], after[0])
		}
		var was, is *T
		if order <= 0 {
			was, before = &before[0], before[1:]
		}
		if order >= 0 {
			is, after = &after[0], after[1:]
		}
		each(was, is)
	}
}

type pathFile struct {
	path string
	file
}

func (l pathFile) compare(other pathFile) int { return cmp.Compare(l.path, other.path) }

// gitKey is something of git that counts: a file, or a part of one.
type gitKey struct {
	path string
	of   string // an index entry or a setting, "" for the whole file
}

func (it gitKey) compare(other gitKey) int {
	return cmp.Or(cmp.Compare(it.path, other.path), cmp.Compare(it.of, other.of))
}

// gitValue is the value of a gitKey.
type gitValue struct {
	text string
	// tag is that of an index entry, see git-ls-files(1), -v; else 0.
	tag byte
}

type gitEntry struct {
	gitKey
	gitValue
}

func (k gitEntry) compare(other gitEntry) int { return k.gitKey.compare(other.gitKey) }

// change describes what happened; nil means that it does not exist.
func (it gitKey) change(was, is *gitValue) Change {
	word := "changed"
	switch {
	case was == nil:
		word = "added"
	case is == nil:
		word = "removed"
	case was.tag != is.tag:
		word = flagWord(is.tag)
		if was.text != is.text {
			word += ", changed"
		}
	}
	if it.of != "" {
		word = it.of + ": " + word
	}
	return Change{Path: it.path, Kind: Git, Detail: word, Ordinary: slices.Contains(ordinary, it.path) && (is == nil || is.tag == 0 || is.tag == 'H')}
}

// flagWord says which flags of an index entry hide its file.
func flagWord(tag byte) string {
	switch tag {
	case 'S':
		return "skip-worktree"
	case 's':
		return "assume-unchanged and skip-worktree"
	case 'h', 'm':
		return "assume-unchanged"
	default:
		return "shown again"
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
