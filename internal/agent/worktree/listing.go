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
	"sync"
)

// listing is what git lists of a repository.
type listing struct {
	// key identifies all that the listing depends on.
	key   [sha256.Size]byte
	names []string // of the files that count
	// nested are directories that may be repositories.
	nested []string
	index  map[gitKey]gitValue // the entries of git's index
}

// list adds the files of a repository and the entries of its index. It asks git, unless
// nothing changed since the latest snapshot that the list depends on: the names and types
// of all files, what is ignored, and git's records. That is a matter of contents, not of
// times.
func (s *scanner) list(ctx context.Context, dir string, r repo, settings []setting) error {
	if s.depth > 1 || s.latest.files == nil { // It may be the only snapshot.
		l, w, err := s.listAndWalk(ctx, dir, r, settings)
		if err != nil {
			return err
		}
		return s.addListing(ctx, dir, r, settings, l, w)
	}
	w, err := s.walkAll(ctx, dir)
	if err != nil {
		return err
	}
	key, known := s.listingKey(r, settings, w)
	if l := s.latest.listing; known && l != nil && l.key == key {
		s.listing, s.listed = l, true
		return s.addListing(ctx, dir, r, settings, l, w)
	}
	l, after, err := s.listAndWalk(ctx, dir, r, settings)
	if err != nil {
		return err
	}
	// The list is of the time between two walks that found the same.
	if again, err := s.walkAll(ctx, dir); err == nil && again.sum == w.sum && known && len(l.nested) == 0 {
		if now, _ := s.listingKey(r, settings, again); now == key {
			l.key, s.listing = key, l
		}
	}
	return s.addListing(ctx, dir, r, settings, l, after)
}

// listAndWalk asks git while it walks.
func (s *scanner) listAndWalk(ctx context.Context, dir string, r repo, settings []setting) (l *listing, w walked, err error) {
	m, err := s.git.shadow(r, settings)
	if err != nil {
		return nil, w, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var walking sync.WaitGroup
	walking.Go(func() {
		var err error
		if w, err = s.walkAll(ctx, dir); err != nil {
			cancel(err)
		}
	})
	// This pattern comes first: .gitignore files count even if they ignore themselves,
	// unless git does not enter their directory.
	out, err := s.git.runOK(ctx, m.command(filepath.Join(s.real, filepath.FromSlash(dir)),
		"ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude=!"+ignoreFile, "--exclude-standard"))
	walking.Wait()
	if ctx.Err() != nil {
		return nil, w, context.Cause(ctx)
	}
	if err == nil {
		l, err = s.parseListing(dir, out)
	}
	return l, w, err
}

// parseListing parses the output of git ls-files.
func (s *scanner) parseListing(dir string, out io.Reader) (*listing, error) {
	l := &listing{index: make(map[gitKey]gitValue)}
	index := path.Join(dir, gitFolder, "index")
	err := records(out, func(text string) error {
		e, err := parseEntry(text)
		if err != nil {
			return unreadable(dir, err)
		}
		name := path.Join(dir, e.path)
		if !e.untracked() {
			of := e.path
			if e.stage != "0" {
				of += " in stage " + e.stage
			}
			l.index[gitKey{index, of}] = gitValue{text: e.mode + " " + e.oid, tag: e.tag}
		}
		if e.mode == gitlink || strings.HasSuffix(e.path, "/") {
			l.nested = append(l.nested, name)
		} else if s.counts(name) {
			l.names = append(l.names, name)
		}
		return nil
	})
	return l, err
}

// addListing adds what is listed, and what was found that git does not list.
func (s *scanner) addListing(ctx context.Context, dir string, r repo, settings []setting, l *listing, w walked) error {
	maps.Copy(s.items, l.index)
	for _, name := range l.names {
		if err := s.add(name); err != nil {
			return err
		}
	}
	if err := s.addSpecial(ctx, dir, r, settings, w.special); err != nil {
		return err
	}
	for _, name := range l.nested {
		if s.enters(name) {
			if err := s.walkNested(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// listingKey identifies what the list of the outermost repository depends on. It is not
// known if there is something that it does not see.
func (s *scanner) listingKey(r repo, settings []setting, w walked) (key [sha256.Size]byte, known bool) {
	index, err := digestFile(filepath.Join(r.dir, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return key, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%x %s %q %q %q\n", w.sum, index, settings, s.ignored, s.alwaysTracked)
	for _, set := range settings {
		if set.name == "core.excludesfile" && !filepath.IsAbs(s.git.expand(set.value)) {
			return key, false // Its content is none of the items.
		}
	}
	keys := slices.SortedFunc(maps.Keys(s.items), compareKeys)
	for _, k := range keys {
		fmt.Fprintf(h, "%q %q %q\n", k.path, k.of, s.items[k].text)
	}
	return [sha256.Size]byte(h.Sum(nil)), w.whole
}

// walked is what a walk over all directories found, also over ignored ones.
type walked struct {
	// special lists the files that are not regular files, links or directories, such as
	// pipes and sockets, which git does not report.
	special []string
	// sum identifies the names and types of all files, and the contents of ignore files, if
	// whole is true: if every directory could be read and belongs to one repository.
	sum   [sha256.Size]byte
	whole bool
}

// errWaits is the error of a special file that would block git.
var errWaits = errors.New("it is neither a file nor a folder, and git would wait for it")

// gitReads are the files of a working tree that git itself reads.
var gitReads = []string{ignoreFile, ".gitattributes", gitModules, ".mailmap"}

// walkAll walks over all directories below dir. It enters ignored ones, since git may read
// files there, but not other repositories.
//
// # Errors
//
// tree-unreadable if a file would block git. The cause of ctx if that is done.
func (s *scanner) walkAll(ctx context.Context, dir string) (w walked, err error) {
	walk := &walker{scanner: s, top: dir, dirs: dirCache{root: s.root}, hash: sha256.New()}
	defer walk.dirs.close()
	walk.whole = true
	err = walk.enter(ctx, dir)
	walk.hash.Sum(walk.sum[:0])
	return walk.walked, err
}

// walker walks over directories.
type walker struct {
	walked
	scanner *scanner
	top     string
	dirs    dirCache
	hash    hash.Hash
}

func (w *walker) enter(ctx context.Context, dir string) error {
	entries, err := w.dirs.entries(dir)
	if err != nil {
		w.whole = false // Git cannot open it either, and reports it if it matters.
	}
	_, _ = fmt.Fprintf(w.hash, "%q %d\n", dir, len(entries))
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name, kind := path.Join(dir, e.Name()), e.Type()
		_, _ = w.hash.Write(append(append([]byte(e.Name()), 0), byte(kind>>24), byte(kind>>16)))
		switch {
		case e.Name() == gitFolder:
			w.whole = w.whole && dir == w.top
		case kind.IsRegular() && e.Name() == ignoreFile:
			sum, err := digest(w.scanner.root, name)
			w.whole = w.whole && err == nil
			_, _ = io.WriteString(w.hash, sum)
		case kind.IsRegular():
		case kind == fs.ModeSymlink:
			w.whole = w.whole && e.Name() != ignoreFile // Older versions of git follow it.
		case kind.IsDir():
			if r, err := w.scanner.find(name); r != nil || err != nil {
				w.whole = false
				continue
			}
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
