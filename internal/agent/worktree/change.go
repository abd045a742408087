package worktree

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of a change.
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

// Area is the area that a change affects.
type Area string

// The areas.
const (
	Files    Area = "files"    // The project's files.
	Index    Area = "index"    // Entries of git's index, which do not affect rounds.
	Records  Area = "records"  // Git's other files.
	Deciding Area = "deciding" // Files that affect later rounds, and .gitmodules.
)

// Change is one difference between two snapshots.
type Change struct {
	// Path is relative to the root, with slashes. It need not be valid UTF-8. Paths of
	// git's own files begin with .git/, after the directory of a nested repository.
	Path string
	Kind Kind
	Area Area
	// Detail describes the change if the path and the kind are not enough.
	Detail string
	// Ordinary is set for changes of normal work in a tree: a file that does not affect later
	// rounds is written or added, or changes are staged or committed. Other changes may remove
	// files, run a program, or affect later rounds.
	Ordinary bool

	entry string // the path of an entry of the outermost index, "" for other changes
}

// Compare lists the differences, sorted by path, kind and detail. The list is empty if and
// only if the digests are equal.
func Compare(before, after *Snapshot) []Change {
	var changes []Change
	b, a := before.files, after.files
	for len(b) > 0 || len(a) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = -1
		case len(b) == 0:
			order = 1
		case b[0] != a[0]:
			order = strings.Compare(b[0].path, a[0].path)
		}
		var was, is entry
		if order <= 0 {
			was, b = b[0], b[1:]
		}
		if order >= 0 {
			is, a = a[0], a[1:]
		}
		switch {
		case is.file == nil:
			changes = append(changes, Change{Path: was.path, Kind: Removed, Area: after.area(was.path)})
		case was.file != is.file: // Snapshots share unchanged files.
			for _, kind := range was.changes(is.file) {
				c := Change{Path: is.path, Kind: kind, Area: after.area(is.path)}
				c.Ordinary = (kind == Content || kind == Added) && is.mode.IsRegular() && !after.affects(is.path)
				changes = append(changes, c)
			}
		}
	}
	changes = compareGit(changes, before.git, after.git)
	if was, is := cmp.Or(before.listing, &listing{}), cmp.Or(after.listing, &listing{}); was.sum != is.sum {
		changes = compareGit(changes, was.index, is.index)
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

func compareGit(changes []Change, before, after map[gitKey]gitValue) []Change {
	for key, is := range after {
		if was, ok := before[key]; !ok {
			changes = append(changes, key.change("added", is.tag))
		} else if was != is {
			changes = append(changes, key.change(was.difference(is), is.tag))
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			changes = append(changes, key.change("removed", 0))
		}
	}
	return changes
}

// area returns the area that a change to a file affects.
func (s *Snapshot) area(path string) Area {
	if path == gitModules || s.affects(path) {
		return Deciding
	}
	return Files
}

// Decides reports whether a file affects later rounds.
func (s *Snapshot) Decides(path string) bool { return s.area(path) == Deciding }

// affects reports whether a file affects later rounds: it is one of the files that always
// count, below one, or in place of a directory that has one.
func (s *Snapshot) affects(path string) bool {
	return slices.ContainsFunc(s.alwaysTracked, func(o string) bool {
		return path == o || below(path, o) || below(o, path)
	})
}

// Rewritten lists the paths that were rewritten with the same content between two snapshots.
func Rewritten(before, after *Snapshot, paths []string) []Change {
	var changes []Change
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		was, is := before.file(path), after.file(path)
		if was != nil && is != nil && was.stat != is.stat && len(was.changes(is)) == 0 {
			changes = append(changes, Change{Path: path, Kind: Content, Area: before.area(path), Detail: "written again"})
		}
	}
	return changes
}

// Lookup reports whether a file exists, and whether it is the one that another program read,
// which has the times and the number of its inode from then: changed is in nanoseconds since
// 1970, 0 if unknown, and inode the last bits of the number. A file that was replaced, moved or
// written since then is not the same, whatever its content.
func (s *Snapshot) Lookup(path string, changed int64, inode uint32) (exists, same bool) {
	f := s.file(path)
	if f == nil {
		return false, false
	}
	// Some systems have no such times, and some builds of git only whole seconds.
	is := f.stat.changed
	if changed%int64(time.Second) == 0 {
		is -= is % int64(time.Second)
	}
	return true, changed == 0 || f.stat.changed == 0 || is == changed && uint32(f.stat.number) == inode
}

// gitKey names a file of git that counts, or a part of one.
type gitKey struct {
	path string
	of   string // an index entry or a setting, "" for the whole file
}

func compareKeys(a, b gitKey) int {
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.of, b.of))
}

type gitValue struct {
	text string
	// tag is the tag of an index entry (git-ls-files(1), -v), 0 for other values.
	tag byte
}

// change returns the change of a key that has this tag now.
func (k gitKey) change(detail string, tag byte) Change {
	if k.of != "" {
		detail = k.of + ": " + detail
	}
	c := Change{Path: k.path, Kind: Git, Area: Records, Detail: detail}
	shown := tag == 0 || tag == 'H' // No flag hides the file.
	if k.path == gitIndex && shown {
		c.Area, c.entry = Index, k.of
	}
	c.Ordinary = c.Area == Index || k.path == gitFolder+"/HEAD" // These change with every commit.
	return c
}

// difference describes how a value changed. The flags of an index entry can hide its file.
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
