//go:build unix

package gitrepo_test

import (
	"bytes"
	"compress/zlib"
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
