package tree

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
}

// Compare lists what differs, sorted by path, kind and detail. It is empty exactly
// where the digests are the same.
func Compare(before, after *Snapshot) []Change {
	var changes []Change
	for path, was := range before.files {
		is, ok := after.files[path]
		if !ok {
			changes = append(changes, Change{Path: path, Kind: Removed})
			continue
		}
		for _, kind := range was.changes(is) {
			changes = append(changes, Change{Path: path, Kind: kind})
		}
	}
	for path := range after.files {
		if _, ok := before.files[path]; !ok {
			changes = append(changes, Change{Path: path, Kind: Added})
		}
	}
	for it, was := range before.git {
		if is, ok := after.git[it]; !ok {
			changes = append(changes, it.change(&was, nil))
		} else if is != was {
			changes = append(changes, it.change(&was, &is))
		}
	}
	for it, is := range after.git {
		if _, ok := before.git[it]; !ok {
			changes = append(changes, it.change(nil, &is))
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

// item is something that git keeps: a file, or what it says of one thing.
type item struct {
	path string
	of   string // an entry of the index or a setting, "" for the whole
}

func (it item) compare(other item) int {
	return cmp.Or(cmp.Compare(it.path, other.path), cmp.Compare(it.of, other.of))
}

// value is what an item says.
type value struct {
	text string
	// tag is that of an entry of the index, a letter of git-ls-files(1), -v; else 0.
	tag byte
}

// change names what happened to an item, nil standing for no such item.
func (it item) change(was, is *value) Change {
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
	return Change{Path: it.path, Kind: Git, Detail: word}
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
