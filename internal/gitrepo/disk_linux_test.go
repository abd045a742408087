package gitrepo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/smalldisk"
)

// On a full disk a step fails as a whole: no ref is half-written, and the step succeeds
// when there is room.
func TestFullDisk(t *testing.T) {
	disk := smalldisk.New(t, "4m")
	s := sceneAt(t, disk)
	filler := filepath.Join(disk, "filler")
	head := s.git(s.dir, "rev-parse", "HEAD")
	r, w := s.open(), s.worktree("T")
	smalldisk.Fill(t, filler, 0)
	if err := r.CheckAuthor(t.Context()); err != nil && errs.CodeOf(err) != errs.GitFailed {
		t.Errorf("git that cannot write gives %v", err)
	}
	failures := 0
	for pages := 0; ; pages++ {
		smalldisk.Fill(t, filler, pages)
		err := r.AddWorktree(t.Context(), w, head)
		if code := errs.CodeOf(err); err != nil && code != errs.GitFailed && code != errs.FileUnwritable {
			t.Errorf("with %d pages it fails with %v", pages, err)
		}
		s.must(os.Remove(filler))
		s.must(r.AddWorktree(t.Context(), w, head))
		s.wantWorktree(w, head)
		if err == nil {
			break
		}
		failures++
		s.must(r.RemoveWorktree(t.Context(), w, "main"))
	}
	parent := head
	for pages := 0; ; pages++ {
		s.write(s.file(w, "b.txt"), strings.Repeat("x", pages))
		c := s.request(r, w, "complete")
		c.Tree, c.Trailers[1].Value = "", c.Tree
		s.write(s.file(w, "c.txt"), strings.Repeat("y", pages))
		smalldisk.Fill(t, filler, pages)
		tree, err := r.WriteTree(t.Context(), w.Path)
		if c.Tree = tree; err == nil {
			_, err = r.Commit(t.Context(), w, c)
		}
		if code := errs.CodeOf(err); err != nil && code != errs.GitFailed && code != errs.FileUnwritable {
			t.Errorf("with %d pages it fails with %v", pages, err)
		}
		s.must(os.Remove(filler))
		s.git(s.dir, "fsck", "--strict")
		c.Tree = s.tree(r, w)
		commit, again := r.Commit(t.Context(), w, c)
		s.must(again)
		s.wantWorktree(w, commit)
		s.equal(s.git(s.dir, "rev-parse", commit+"^"), parent)
		parent = commit
		if err == nil {
			break
		}
		failures++
	}
	if failures < 4 {
		t.Errorf("only %d attempts failed", failures)
	}
}
