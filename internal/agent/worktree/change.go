package worktree

import (
	"cmp"
	"maps"
	"slices"
)

// Kind says how something changed.
type Kind string

// The kinds of changes.
const (
	Added   Kind = "added"
	Removed Kind = "removed"
	Content Kind = "content"
	Mode    Kind = "mode"
	Type    Kind = "type" // a file became a link, or the like
	Git     Kind = "git"  // git's own record, and no file of the tree
)

// Change is one difference between two snapshots.
type Change struct {
	// Path is relative to the root, with slashes, as the file system has it: it
	// need not be valid UTF-8, and may hold any character but NUL. That of git's own
	// files begins with .git/ wherever the repository keeps them, after the folder
	// of a nested repository.
	Path string
	Kind Kind
	// Detail says more where the path does not say all, else "".
	Detail string
	// Ordinary says that it is what work in a tree comes to: a file that is written or
	// added, and decides nothing itself, a commit, or what is staged for one. All else
	// may take something away, run something, or decide what is to come.
	Ordinary bool
}

// ordinary are those of git's own files that move with every commit.
var ordinary = []string{gitFolder + "/HEAD", gitFolder + "/index"}

// ordinary reports whether a change of a file is one of work in the tree. is is what
// the file is now.
func (s *Snapshot) ordinary(path string, kind Kind, is file) bool {
	return (kind == Content || kind == Added) && is.mode.IsRegular() && !slices.ContainsFunc(s.alwaysTracked, func(o string) bool {
		return path == o || below(path, o)
	})
}

// Compare lists what differs, sorted by path, kind and detail. It is empty exactly
// where the digests are the same.
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

// Rewritten lists those of some files that were written anew between two snapshots with
// the content that they had.
func Rewritten(before, after *Snapshot, paths []string) []Change {
	var changes []Change
	pairs(before.files, after.files, pathFile.compare, func(was, is *pathFile) {
		if was != nil && is != nil && was.stat != is.stat && len(was.changes(is.file)) == 0 && slices.Contains(paths, is.path) {
			changes = append(changes, Change{Path: is.path, Kind: Content, Detail: "written again"})
		}
	})
	return changes
}

// pairs calls each with what two sorted lists have of one name, nil for the list
// that has nothing of it.
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

// pathFile is a file and where it is.
type pathFile struct {
	path string
	file
}

func (l pathFile) compare(other pathFile) int { return cmp.Compare(l.path, other.path) }

// gitKey is something that git keeps: a file, or what it says of one thing.
type gitKey struct {
	path string
	of   string // an entry of the index or a setting, "" for the whole
}

func (it gitKey) compare(other gitKey) int {
	return cmp.Or(cmp.Compare(it.path, other.path), cmp.Compare(it.of, other.of))
}

// gitValue is what an item says.
type gitValue struct {
	text string
	// tag is that of an entry of the index, a letter of git-ls-files(1), -v; else 0.
	tag byte
}

// count is an item and what it says.
type gitEntry struct {
	gitKey
	gitValue
}

func (k gitEntry) compare(other gitEntry) int { return k.gitKey.compare(other.gitKey) }

// change names what happened to an item, nil standing for no such item.
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

// flagWord says by which flags an entry of the index hides its file.
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
