//go:build unix

package gitrepo_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// forge writes an object with other contents than its id says, and returns its file.
func (s *scene) forge(id, kind, contents string) string {
	s.Helper()
	file := filepath.Join(s.dir, ".git", "objects", id[:2], id[2:])
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	var data bytes.Buffer
	w := zlib.NewWriter(&data)
	_, err := fmt.Fprintf(w, "%s %d\x00%s", kind, len(contents), contents)
	s.must(errors.Join(err, w.Close()))
	s.write(file, data.String())
	return file
}

// Git takes an object that is there for what it is to store.
func TestWriteTreeFindsForgedFiles(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "dir/new.txt"), "reviewed\n")
	forged := s.forge(s.git(w.Path, "hash-object", "dir/new.txt"), "blob", "forged\n")
	_, err := r.WriteTree(t.Context(), w.Path)
	s.want(err, errs.GitObjectInvalid)

	s.must(os.Remove(forged))
	tree := s.tree(r, w)
	s.equal(s.git(s.dir, "cat-file", "-p", tree+":dir/new.txt"), "reviewed")
}

func TestWriteTreeFindsForgedDirectories(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "dir/new.txt"), "reviewed\n")
	tree := s.tree(r, w)
	blob, err := hex.DecodeString(s.git(s.dir, "rev-parse", "main:a.txt"))
	s.must(err)
	for _, id := range []string{tree, s.git(s.dir, "rev-parse", tree+":dir")} {
		forged := s.forge(id, "tree", "100644 new.txt\x00"+string(blob))
		_, err := r.WriteTree(t.Context(), w.Path)
		s.want(err, errs.GitObjectInvalid)
		s.must(os.Remove(forged))
		s.equal(s.tree(r, w), tree)
	}
}

// The diff of a file with the contents that its base seems to have is empty.
func TestWriteTreeFindsForgedBase(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	s.write(s.file(w, "a.txt"), "hidden\n")
	s.forge(s.git(s.dir, "rev-parse", "main:a.txt"), "blob", "hidden\n")
	_, err := r.WriteTree(t.Context(), w.Path)
	s.want(err, errs.GitObjectInvalid)
}

// Objects that were stored as they should be can be replaced before the merge.
func TestAdvanceFindsForgedFiles(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	main := s.git(s.dir, "rev-parse", "main")
	tip := s.edit(r, w, "new.txt", "reviewed\n")
	s.forge(s.git(w.Path, "hash-object", "new.txt"), "blob", "forged\n")
	s.want(r.Advance(t.Context(), "main", tip, main), errs.GitObjectInvalid)
	s.equal(s.git(s.dir, "rev-parse", "main"), main)
	if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err == nil {
		t.Error("the forged file is checked out")
	}
}

// Git's cache of the history can say that a commit is an ancestor of the draft, so that a merge
// would move the branch back behind it.
func TestMergeReadsNoForgedHistory(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	first := s.git(s.dir, "rev-parse", "main")
	s.write(filepath.Join(s.dir, "other.txt"), "of somebody else\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "second")
	second := s.git(s.dir, "rev-parse", "main")
	s.forgeHistory(first, second)
	tip := s.edit(r, w, "new.txt", "reviewed\n")
	if _, err := s.tryGit(s.dir, "merge-base", "--is-ancestor", second, tip); err != nil {
		t.Fatalf("git does not believe the forged history: %v", err)
	}
	s.git(s.dir, "switch", "-q", "-c", "mine")
	result := s.merge(r, s.mergeRequest(w))
	s.equal(s.git(s.dir, "-c", "core.commitGraph=false", "ls-tree", "--name-only", result.Commit), ".gitignore\na.txt\nnew.txt\nother.txt")
}

// forgeHistory writes a commit-graph of two commits in which the parent is the child. Its format
// is in git's gitformat-commit-graph(5).
func (s *scene) forgeHistory(parent, child string) {
	s.Helper()
	s.git(s.dir, "-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable")
	file := filepath.Join(s.dir, ".git", "objects", "info", "commit-graph")
	data, err := os.ReadFile(file)
	s.must(err)
	const entry = 20 + 4 + 4 + 8 // tree, parents, generation with time
	at := bytes.Index(data, []byte("CDAT"))
	commits := data[binary.BigEndian.Uint64(data[at+4:]):]
	positions := map[string]uint32{parent: 0, child: 1}
	if child < parent {
		positions = map[string]uint32{child: 0, parent: 1}
	}
	set := func(commit string, parent, generation uint32) {
		fields := commits[positions[commit]*entry:][20:entry]
		binary.BigEndian.PutUint32(fields, parent)
		binary.BigEndian.PutUint32(fields[8:], generation<<2|binary.BigEndian.Uint32(fields[8:])&3)
	}
	const none = 0x70000000
	set(child, none, 1)
	set(parent, positions[child], 2)
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	s.must(os.Remove(file))
	s.write(file, string(data[:len(data)-sha1.Size])+string(sum[:]))
}
