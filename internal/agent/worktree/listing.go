package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// inStage separates the path and the stage of an entry with a conflict in a gitKey.
const inStage = " in stage "

// listing is git's listing of a repository. It is immutable when it is complete.
type listing struct {
	// key identifies everything that the listing depends on. It is 0 if that may change
	// unnoticed.
	key   [sha256.Size]byte
	names []string // of the files that count, sorted
	// nested are directories that may be repositories.
	nested []string
	index  map[gitKey]gitValue // the entries of git's index
	sum    [sha256.Size]byte   // of the index
	// settings are the settings that git used.
	settings []setting
}

// list adds the files of a repository and the entries of its index. It runs git only if
// something changed since the latest snapshot that the list depends on: the names and types of
// all files, the ignore rules, and git's records. It compares contents instead of times.
func (s *scanner) list(ctx context.Context, dir string, r repo, settings []setting, w walkResult) error {
	if s.depth > 1 || s.cache == nil {
		l, err := s.ask(ctx, dir, r, settings)
		if err != nil {
			return err
		}
		return s.addListing(ctx, dir, r, l, w)
	}
	key, known := s.listingKey(r, settings, w)
	l := s.latest.listing
	if s.listed = known && l != nil && l.key == key; !s.listed {
		var err error
		if l, err = s.ask(ctx, dir, r, settings); err != nil {
			return err
		}
		// If the walks before and after found the same, it also applies to the list.
		again, err := s.walkAll(ctx, dir)
		if err != nil {
			return err
		}
		if now, still := s.listingKey(r, settings, again); now == key && known && still && len(l.nested) == 0 {
			l.key = key
		}
		w = again
	}
	return s.addListing(ctx, dir, r, l, w)
}

// ask returns git's listing of the repository at dir. A walk must have checked that no file
// blocks git.
func (s *scanner) ask(ctx context.Context, dir string, r repo, settings []setting) (*listing, error) {
	m, err := s.git.shadow(r, settings)
	if err != nil {
		return nil, err
	}
	// The patterns come first, so that files of rules count even if they are ignored, unless git
	// does not enter their directory.
	out, err := s.git.runOK(ctx, m.command(filepath.Join(s.real, filepath.FromSlash(dir)),
		"ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude=!"+ignoreFile, "--exclude=!"+attributesFile, "--exclude-standard"))
	if err != nil {
		return nil, err
	}
	l := &listing{index: make(map[gitKey]gitValue), settings: settings}
	sum := sha256.New()
	err = records(out, func(text string) error {
		e, err := parseEntry(text)
		if err != nil {
			return unreadable(dir, err)
		}
		name := path.Join(dir, e.path)
		if !e.isUntracked() {
			of := e.path
			if e.stage != "0" {
				of += inStage + e.stage
			}
			l.index[gitKey{path.Join(dir, gitIndex), of}] = gitValue{text: e.mode + " " + e.oid, tag: e.tag}
			_, _ = io.WriteString(sum, text+"\x00")
		}
		if e.mode == gitcmd.Gitlink || strings.HasSuffix(e.path, "/") {
			l.nested = append(l.nested, name)
		} else if s.counts(name) {
			l.names = append(l.names, name)
		}
		return nil
	})
	sum.Sum(l.sum[:0])
	slices.Sort(l.names)
	l.names = slices.Compact(l.names) // A conflict has several entries.
	return l, err
}

// addListing adds the files of the listing, special files, which git does not list, and nested
// repositories.
func (s *scanner) addListing(ctx context.Context, dir string, r repo, l *listing, w walkResult) error {
	if s.depth == 1 {
		s.listing = l
	} else {
		maps.Copy(s.items, l.index)
	}
	if s.names = append(s.names, l.names...); len(s.names) > maxFiles {
		return tooManyFiles()
	}
	if err := s.addSpecial(ctx, dir, r, l.settings, w.special); err != nil {
		return err
	}
	for _, name := range l.nested {
		if s.enters(name) {
			// Without the directory, git commits the removal of a submodule that is not checked out.
			if f, err := s.dirs.lstat(name); err != nil {
				return err
			} else if f != nil {
				s.items[gitKey{path: path.Join(name, gitFolder)}] = gitValue{text: "exists"}
			}
			if err := s.walkNested(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// listingKey returns a key for everything that the list of the outermost repository depends
// on. known is false if the key cannot cover all of it.
func (s *scanner) listingKey(r repo, settings []setting, w walkResult) (key [sha256.Size]byte, known bool) {
	index, err := digestFile(filepath.Join(r.dir, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return key, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %s %q %q %q\n", w.sum, index, settings, s.ignored, s.alwaysTracked)
	keys := slices.SortedFunc(maps.Keys(s.items), compareKeys)
	for _, k := range keys {
		fmt.Fprintf(h, "%q %q %q\n", k.path, k.of, s.items[k].text)
	}
	return [sha256.Size]byte(h.Sum(nil)), w.whole
}

// walkResult is the result of a walk over all directories, including ignored ones.
type walkResult struct {
	// special lists the files that are not regular files, links or directories, such as
	// pipes and sockets, which git does not report.
	special []string
	// sum identifies the names and types of all files, and the contents of ignore files. It is
	// valid if whole is set: every directory could be read, and belongs to the repository.
	sum   [sha256.Size]byte
	whole bool
}

// errWaits is the error for a special file that would block git.
var errWaits = errors.New("it is neither a file nor a directory, and git would wait for it")

// gitReads are the files of a working tree that git itself reads.
var gitReads = []string{ignoreFile, attributesFile, gitModules, ".mailmap"}

// walkAll walks over all directories below dir. It enters ignored ones, since git may read
// files there, but not other repositories.
//
// # Errors
//
// tree-unreadable if a file would block git. If ctx is done, its cause.
func (s *scanner) walkAll(ctx context.Context, dir string) (w walkResult, err error) {
	walk := &walker{scanner: s, top: dir, dirs: dirCache{root: s.root}, hash: sha256.New()}
	defer walk.dirs.close()
	walk.whole = true
	err = walk.enter(ctx, dir)
	walk.hash.Sum(walk.sum[:0])
	return walk.walkResult, err
}

type walker struct {
	walkResult
	scanner *scanner
	top     string
	dirs    dirCache
	hash    hash.Hash
	line    []byte // the hashed description of a directory
}

func (w *walker) enter(ctx context.Context, dir string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := w.dirs.entries(dir)
	if err != nil {
		w.whole = false // Git cannot open it either, and reports this if it matters.
	}
	if dir != w.top && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), gitFolder) }) {
		w.whole = false
		switch r, err := w.scanner.find(dir); {
		case errors.Is(err, errWaits):
			return err
		case r != nil || err != nil:
			return nil
		}
	}
	w.line = fmt.Appendf(w.line[:0], "%q %d\n", dir, len(entries))
	for _, e := range entries {
		kind := e.Type()
		w.line = append(append(append(w.line, e.Name()...), 0), byte(kind>>24), byte(kind>>16))
	}
	_, _ = w.hash.Write(w.line)
	for _, e := range entries {
		kind := e.Type()
		if e.Name() == gitFolder || kind.IsRegular() && e.Name() != ignoreFile {
			continue
		}
		name := path.Join(dir, e.Name())
		switch {
		case kind.IsRegular():
			sum, err := digest(w.scanner.root, name)
			w.whole = w.whole && err == nil
			_, _ = io.WriteString(w.hash, sum)
		case kind == fs.ModeSymlink:
			w.whole = w.whole && e.Name() != ignoreFile // Older versions of git follow it.
		case kind.IsDir():
			if err := w.enter(ctx, name); err != nil {
				return err
			}
		case slices.Contains(gitReads, e.Name()):
			return unreadable(name, errWaits)
		case w.scanner.counts(name):
			w.special = append(w.special, name)
		}
	}
	return nil
}
