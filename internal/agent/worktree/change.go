package worktree

import (
	"cmp"
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

// Compare lists the differences, sorted by path, kind and detail. It is empty exactly if
// the digests are equal.
func Compare(before, after *Snapshot) []Change {
	var changes []Change
	for path, is := range after.files {
		kinds := []Kind{Added}
		if was, ok := before.files[path]; ok {
			kinds = was.changes(is)
		}
		for _, kind := range kinds {
			changes = append(changes, Change{Path: path, Kind: kind, Ordinary: after.ordinary(path, kind, is)})
		}
	}
	for path := range before.files {
		if _, ok := after.files[path]; !ok {
			changes = append(changes, Change{Path: path, Kind: Removed})
		}
	}
	for key, is := range after.git {
		if was, ok := before.git[key]; !ok {
			changes = append(changes, key.change("added", is.tag))
		} else if was != is {
			changes = append(changes, key.change(was.difference(is), is.tag))
		}
	}
	for key := range before.git {
		if _, ok := after.git[key]; !ok {
			changes = append(changes, key.change("removed", 0))
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

// ordinary reports whether a change to the file is one of normal work.
func (s *Snapshot) ordinary(path string, kind Kind, is *file) bool {
	return (kind == Content || kind == Added) && is.mode.IsRegular() && !slices.ContainsFunc(s.alwaysTracked, func(o string) bool {
		return path == o || below(path, o)
	})
}

// Rewritten lists those of paths that were rewritten with the same content between two
// snapshots.
func Rewritten(before, after *Snapshot, paths []string) []Change {
	var changes []Change
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		was, is := before.files[path], after.files[path]
		if was != nil && is != nil && was.stat != is.stat && len(was.changes(is)) == 0 {
			changes = append(changes, Change{Path: path, Kind: Content, Detail: "written again"})
		}
	}
	return changes
}

// gitKey is something of git that counts: a file, or a part of one.
type gitKey struct {
	path string
	of   string // an index entry or a setting, "" for the whole file
}

// gitValue is the value of a gitKey.
type gitValue struct {
	text string
	// tag is that of an index entry, see git-ls-files(1), -v; else 0.
	tag byte
}

// change is that of a key that has this tag now.
func (k gitKey) change(detail string, tag byte) Change {
	if k.of != "" {
		detail = k.of + ": " + detail
	}
	// These change with every commit.
	ordinary := k.path == gitFolder+"/HEAD" || k.path == gitFolder+"/index"
	return Change{Path: k.path, Kind: Git, Detail: detail, Ordinary: ordinary && (tag == 0 || tag == 'H')}
}

// difference says how a value changed: the flags of an index entry can hide its file.
func (was gitValue) difference(is gitValue) string {
	if was.tag == is.tag {
		return "changed"
	}
	detail := "shown again"
	switch is.tag {
	case 'S':
		detail = "skip-worktree"
	case 's':
		detail = "assume-unchanged and skip-worktree"
	case 'h', 'm':
		detail = "assume-unchanged"
	}
	if was.text != is.text {
		detail += ", changed"
	}
	return detail
}
