package worktree

import (
	"context"
	"crypto/sha1" // git's checksum of an index
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// currentListing returns git's listing of the tree, or the one of Tree.Now if that is known.
func (s *scanner) currentListing(ctx context.Context, r repo) (*listing, error) {
	if s.now != nil && s.now.listing != nil {
		return s.now.listing, nil
	}
	settings, err := s.git.settings(ctx, r)
	if err != nil {
		return nil, err
	}
	if _, err := s.walkAll(ctx, ""); err != nil {
		return nil, err
	}
	return s.ask(ctx, "", r, settings)
}

// writeIndex writes a separate index for the shadow, for the paths in only, or for all that
// count if only is nil. It has untracked files, but no flags and times that hide a change: the
// author of the draft can write the repository's index, and git trusts its times.
func (s *scanner) writeIndex(ctx context.Context, m *shadowRepo, l *listing, only []string) error {
	prefix, err := filepath.Rel(m.repo.top, s.real)
	if err != nil {
		return unreadable(".", err)
	}
	if only == nil {
		only = slices.Clone(l.names)
		for key, is := range l.index {
			if is.tag != 'M' && is.tag != 'm' { // A conflict has an entry for each side.
				only = append(only, key.of)
			}
		}
		slices.Sort(only)
		only = slices.Compact(only)
	}
	ignored, err := s.ignoredRules(ctx, m, l, only)
	if err != nil {
		return err
	}
	index := newIndexFile(m.format)
	for _, name := range only {
		what, hidden, err := s.indexEntry(ctx, m, l, name)
		if err != nil {
			return err
		}
		if what == "" || ignored[name] {
			continue
		}
		if err := index.add(path.Join(filepath.ToSlash(prefix), name), what, hidden); err != nil {
			return unreadable(gitFolder, err)
		}
	}
	name := filepath.Join(m.dir, "index")
	m.env = append(m.env, "GIT_INDEX_FILE="+name)
	if err := os.WriteFile(name, index.finish(), 0o600); err != nil {
		return unreadable(".", err)
	}
	return nil
}

// indexEntry returns the entry of a file in an index of the draft, or "". For a hidden entry,
// the draft has the object of the entry instead of the file.
func (s *scanner) indexEntry(ctx context.Context, m *shadowRepo, l *listing, name string) (what string, hidden bool, err error) {
	is, tracked := l.index[gitKey{gitIndex, name}]
	_, counts := slices.BinarySearch(l.names, name)
	hidden = tracked && !counts
	// A file that is not checked out was not deleted. Git takes it for deleted if another one is in
	// its place, or in the place of its directory.
	skipped := is.tag == 's' || is.tag == 'S'
	for dir := path.Dir(name); skipped && dir != "."; dir = path.Dir(dir) {
		_, replaced := slices.BinarySearch(l.names, dir)
		skipped = !replaced
	}
	if strings.HasPrefix(is.text, gitcmd.Gitlink) {
		return s.submoduleEntry(ctx, m, name, is.text, skipped)
	}
	if counts && !tracked || skipped {
		f, err := s.dirs.lstat(name)
		switch {
		case err != nil:
			return "", false, err
		case f == nil:
			hidden = tracked
		case !tracked && !f.mode.IsDir():
			is.text = gitMode(f.mode) + " " + m.emptyBlob()
		}
	}
	return is.text, hidden, nil
}

// submoduleEntry is indexEntry for a submodule with the entry was in the index. skipped says that
// it need not be checked out. Its files do not count, but the commit that is checked out does, and
// a file or a link in its place.
func (s *scanner) submoduleEntry(ctx context.Context, m *shadowRepo, name, was string, skipped bool) (what string, hidden bool, err error) {
	f, err := s.dirs.lstat(name)
	switch {
	case err != nil || f == nil:
		return was, skipped, err
	case !f.mode.IsDir():
		return gitMode(f.mode) + " " + m.emptyBlob(), false, nil
	}
	r, err := s.find(name)
	if err != nil || r == nil {
		return was, true, err
	}
	commit, err := s.id(ctx, *r, "rev-parse", "--verify", "--quiet", "HEAD") // It reads no object, which git could fetch.
	if err != nil || commit == "" {
		return was, true, err
	}
	if s.now != nil {
		if _, known := s.now.git[gitKey{path: path.Join(name, gitFolder, "HEAD")}]; !known { // It was not checked out then.
			return was, true, nil
		}
		fresh := scanner{items: make(map[gitKey]gitValue)}
		if err := fresh.addGitFiles(ctx, name, *r, false); err != nil {
			return "", false, err
		}
		for key, is := range fresh.items {
			if s.now.git[key] != is {
				return "", false, unreadable(name, errChanged)
			}
		}
	}
	return gitcmd.Gitlink + " " + commit, true, nil
}

// ignoredRules returns the untracked ignore and attributes files that are ignored: they count,
// but are not part of a draft.
func (s *scanner) ignoredRules(ctx context.Context, m *shadowRepo, l *listing, names []string) (map[string]bool, error) {
	var untracked []string
	for _, name := range names {
		if _, tracked := l.index[gitKey{gitIndex, name}]; !tracked && (path.Base(name) == ignoreFile || path.Base(name) == attributesFile) {
			untracked = append(untracked, name)
		}
	}
	return s.ignoredOf(ctx, m, "", untracked)
}

func (m *shadowRepo) emptyBlob() string {
	if m.format == sha256Format {
		return "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
	}
	return "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
}

// gitMode returns git's name for a file's type and permissions.
func gitMode(mode fs.FileMode) string {
	switch {
	case mode.Type() == fs.ModeSymlink:
		return "120000"
	case mode&0o100 != 0:
		return "100755"
	default:
		return "100644"
	}
}

// indexFile is a git index of version 2, see gitformat-index(5). Its entries have no
// times and sizes, so that git reads their files.
type indexFile struct {
	text    []byte
	entries uint32
	sum     hash.Hash
}

func newIndexFile(format string) *indexFile {
	f := &indexFile{text: make([]byte, 12), sum: sha1.New()}
	if format == sha256Format {
		f.sum = sha256.New()
	}
	return f
}

// add adds an entry. Entries must be added in the order of their paths. what is the mode and
// the id of the object. For a hidden entry, git compares the object instead of the file.
func (f *indexFile) add(name, what string, hidden bool) error {
	mode, err := strconv.ParseUint(what[:min(len(what), 6)], 8, 32)
	if err != nil {
		return err
	}
	id, err := hex.DecodeString(what[min(len(what), 7):])
	if err != nil || len(id) != f.sum.Size() {
		return fmt.Errorf("%.200q is not an object", what)
	}
	const sizes, beforeMode = 40, 24
	start := len(f.text)
	f.text = append(f.text, make([]byte, sizes)...)
	binary.BigEndian.PutUint32(f.text[start+beforeMode:], uint32(mode))
	flags := uint16(min(len(name), 0xfff))
	if hidden {
		flags |= 0x8000 // assume-valid
	}
	f.text = binary.BigEndian.AppendUint16(append(f.text, id...), flags)
	f.text = append(f.text, name...)
	f.text = append(f.text, make([]byte, 8-(len(f.text)-start)%8)...)
	f.entries++
	return nil
}

func (f *indexFile) finish() []byte {
	copy(f.text, "DIRC\x00\x00\x00\x02")
	binary.BigEndian.PutUint32(f.text[8:], f.entries)
	f.sum.Write(f.text)
	return f.sum.Sum(f.text)
}
