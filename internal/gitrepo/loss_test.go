//go:build unix

package gitrepo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

// These are ways in which tools like this one have lost their users' work.

// A removal that is killed leaves no part of a worktree, which would look like a draft that
// deletes the other files.
func TestLosesNoFilesToKilledRemoval(t *testing.T) {
	s := newScene(t)
	const many = 500
	for n := range many {
		s.write(filepath.Join(s.dir, "many", fmt.Sprint(n)), "")
	}
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "many")
	r, tip := s.open(), s.git(s.dir, "rev-parse", "main")
	w := s.add(r, "T")
	removed := make(chan error, 1)
	go func() { removed <- r.RemoveWorktree(t.Context(), w, "main") }()
	for {
		files, _ := os.ReadDir(s.file(w, "many"))
		if _, err := os.Lstat(w.Path); err != nil {
			break
		}
		if len(files) != many {
			t.Errorf("at some time it has %d of %d files", len(files), many)
			break
		}
	}
	s.must(<-removed)
	s.wantNoFiles()

	// After a kill the worktree can be created again, and the files that were left go with it.
	s.add(r, "T")
	left := filepath.Join(filepath.Dir(w.Path), ".removed-T")
	s.must(os.Rename(w.Path, left))
	s.must(os.Remove(filepath.Join(left, "a.txt")))
	s.add(r, "T")
	s.wantWorktree(w, tip)
	s.must(r.RemoveWorktree(t.Context(), w, "main"))
	s.wantNoFiles()
}

// wantNoFiles checks that the directory of worktrees is empty.
func (s *scene) wantNoFiles() {
	s.Helper()
	if left, err := os.ReadDir(filepath.Join(s.base, stateDir)); err != nil || len(left) > 0 {
		s.Errorf("it left %v, %v", left, err)
	}
}

// A worktree is not removed over files that are not committed, however git sees them.
func TestLosesNoUncommittedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene, w gitrepo.Worktree)
		code   errs.Code
	}{
		"changed":   {func(s *scene, w gitrepo.Worktree) { s.write(s.file(w, "a.txt"), "x") }, errs.WorktreeDirty},
		"untracked": {func(s *scene, w gitrepo.Worktree) { s.write(s.file(w, "dir/new"), "x") }, errs.WorktreeDirty},
		"deleted":   {func(s *scene, w gitrepo.Worktree) { s.must(os.Remove(s.file(w, "a.txt"))) }, errs.WorktreeDirty},
		"staged only": {func(s *scene, w gitrepo.Worktree) {
			s.write(s.file(w, "a.txt"), "x")
			s.git(w.Path, "add", "-A")
			s.write(s.file(w, "a.txt"), "one\n")
		}, errs.WorktreeDirty},
		"hidden from git status": {func(s *scene, w gitrepo.Worktree) {
			s.git(w.Path, "update-index", "--assume-unchanged", "a.txt")
			s.write(s.file(w, "a.txt"), "x")
		}, errs.WorktreeDirty},
		"commits of another repository": {func(s *scene, w gitrepo.Worktree) {
			s.must(os.Remove(s.file(w, ".git")))
			s.git(w.Path, "init", "-q")
		}, errs.WorktreeDirty},
		"in a repository": {func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "init", "-q", "nested") }, errs.RepositoryNested},
		"on no branch": {func(s *scene, w gitrepo.Worktree) {
			s.git(w.Path, "switch", "-q", "--detach")
			s.git(w.Path, "commit", "-q", "--allow-empty", "-m", "x")
		}, errs.WorktreeSwitched},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			r := s.open()
			w := s.add(r, "T")
			c.change(s, w)
			before := s.git(w.Path, "status", "--porcelain") + s.git(w.Path, "ls-files", "-v", "--stage") + s.git(s.dir, "worktree", "list", "--porcelain")
			s.want(r.RemoveWorktree(t.Context(), w, "main"), c.code)
			s.equal(s.git(w.Path, "status", "--porcelain")+s.git(w.Path, "ls-files", "-v", "--stage")+s.git(s.dir, "worktree", "list", "--porcelain"), before)
		})
	}
}

// A file of git's that invents parents does not make a branch look merged.
func TestLosesNoBranchByGrafts(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	tip := s.edit(r, w, "a.txt", "two\n")
	s.write(filepath.Join(s.dir, ".git", "info", "grafts"), s.git(s.dir, "rev-parse", "main")+" "+tip+"\n")
	s.git(s.dir, "merge-base", "--is-ancestor", tip, "main")
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.BranchUnmerged)
}

// A branch whose merge has a conflict stays, with its worktree.
func TestLosesNoBranchOnConflict(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "switch", "-q", "-c", "mine")
	r := s.open()
	w, other := s.add(r, "T"), s.add(r, "U")
	tip := s.edit(r, w, "a.txt", "two\n")
	s.must(r.Advance(t.Context(), "main", s.edit(r, other, "a.txt", "three\n"), s.git(s.dir, "rev-parse", "main")))
	if result := s.merge(r, s.mergeRequest(w)); result.Commit != "" || len(result.Conflicts) != 1 {
		t.Errorf("the merge is %+v", result)
	}
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.BranchUnmerged)
	s.wantWorktree(w, tip)
}

// The worktrees share one repository, so that an agent can commit to the branch of
// another one, or switch its own. Neither is built upon.
func TestLosesNoCommitToAnotherBranch(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w, other := s.add(r, "T"), s.add(r, "U")
	s.write(s.file(w, "a.txt"), "two\n")
	c := s.request(r, w, "1")
	foreign := s.git(other.Path, "commit-tree", "-p", "main", "-m", "foreign", "main^{tree}")
	s.git(other.Path, "update-ref", "refs/heads/"+w.Branch, foreign)
	_, err := r.Commit(t.Context(), w, c)
	s.want(err, errs.BranchMoved)
	s.equal(s.git(s.dir, "rev-parse", w.Branch), foreign)
	s.git(other.Path, "switch", "-q", "-c", "own")
	_, err = r.Commit(t.Context(), other, s.request(r, other, "2"))
	s.want(err, errs.WorktreeSwitched)
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.BranchUnmerged)
}

// A finished worktree does not keep its branch from being used, also if its user deleted
// the directory.
func TestLosesNoBranchToFinishedWorktree(t *testing.T) {
	s := newScene(t)
	r := s.open()
	for _, prepare := range []func(gitrepo.Worktree){
		func(gitrepo.Worktree) {},
		func(w gitrepo.Worktree) { s.must(os.RemoveAll(w.Path)) },
	} {
		w := s.add(r, "T")
		tip := s.edit(r, w, "b.txt", "two\n")
		s.git(s.dir, "merge", "-q", "--ff-only", w.Branch)
		prepare(w)
		s.must(r.RemoveWorktree(t.Context(), w, "main"))
		s.git(s.dir, "switch", "-q", "-c", w.Branch)
		s.equal(s.git(s.dir, "rev-parse", "HEAD"), tip)
		s.git(s.dir, "switch", "-q", "main")
		s.git(s.dir, "branch", "-q", "-d", w.Branch)
		s.git(s.dir, "reset", "-q", "--hard", "HEAD~")
	}
}

// What git prints when it adds a worktree is not taken for an answer.
func TestLosesNoAnswerInOutput(t *testing.T) {
	s := newScene(t)
	real, err := exec.LookPath("git")
	s.must(err)
	bin := filepath.Join(s.base, "bin")
	s.must(os.Mkdir(bin, 0o700))
	s.must(os.WriteFile(filepath.Join(bin, "git"), []byte(`#!/bin/sh
case " $* " in *" worktree add "*|*" checkout "*) echo "HEAD is now at 1234567"; echo "Preparing worktree" >&2;; esac
exec `+real+` "$@"
`), 0o700))
	s.environ[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
	r := s.open()
	w := s.add(r, "T")
	tip := s.edit(r, w, "b.txt", "two\n")
	s.wantWorktree(w, tip)
	s.equal(s.merge(r, s.mergeRequest(w)).Commit, tip)
}

// No worktree is inside a checkout, where agents would find its files, or git would delete
// them.
func TestLosesNoWorktreeInCheckout(t *testing.T) {
	s := newScene(t)
	r := s.open()
	outside := s.add(r, "T")
	for _, dir := range []string{s.dir, filepath.Join(s.dir, ".worktrees"), outside.Path} {
		w := gitrepo.Worktree{Path: filepath.Join(dir, "U"), Branch: gitrepo.TaskBranch("U")}
		s.want(r.AddWorktree(t.Context(), w, "HEAD"), errs.WorktreeInside)
	}
	s.equal(s.git(s.dir, "status", "--porcelain", "--ignored"), "")
	s.equal(s.git(s.dir, "branch", "--list", gitrepo.TaskBranch("U")), "")
}

// A push never replaces commits of the remote's branch, whatever its settings say.
func TestLosesNoCommitToForcedPush(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	remote := filepath.Join(s.base, "remote")
	s.git(s.base, "init", "-q", "--bare", remote)
	s.git(s.dir, "remote", "add", "origin", remote)
	s.must(r.Push(t.Context(), "origin", w.Branch, nil))
	approved := s.git(remote, "commit-tree", "-p", w.Branch, "-m", "approved", w.Branch+"^{tree}")
	s.git(remote, "update-ref", "refs/heads/"+w.Branch, approved)
	s.edit(r, w, "b.txt", "two\n")
	s.git(s.dir, "config", "--add", "remote.origin.push", "+refs/heads/*:refs/heads/*")
	s.want(r.Push(t.Context(), "origin", w.Branch, nil), errs.PushRejected)
	s.git(s.dir, "config", "remote.origin.mirror", "true")
	s.want(r.Push(t.Context(), "origin", w.Branch, nil), errs.PushFailed)
	s.equal(s.git(remote, "for-each-ref", "--format=%(refname) %(objectname)"), "refs/heads/"+w.Branch+" "+approved)
}

// Two changes can merge cleanly and break the build: the branch has not moved when the
// merged files are there to be verified.
func TestLosesNoBuildToCleanMerge(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "switch", "-q", "-c", "mine")
	r := s.open()
	w, other := s.add(r, "T"), s.add(r, "U")
	s.edit(r, w, "define.sh", "renamed() { echo x; }\n")
	s.must(r.Advance(t.Context(), "main", s.edit(r, other, "use.sh", ". ./define.sh; original\n"), s.git(s.dir, "rev-parse", "main")))
	before := s.git(s.dir, "for-each-ref")
	m := s.mergeRequest(w)
	result := s.merge(r, m)
	if result.Commit == "" {
		t.Fatalf("the merge is %+v", result)
	}
	verify := exec.Command("sh", "use.sh")
	verify.Dir = m.Path
	if err := verify.Run(); err == nil {
		t.Error("the merged build is not broken")
	}
	s.equal(s.git(s.dir, "for-each-ref"), before)
}

// A worktree that another git process adds or removes at that moment is no failure. Git
// prints the messages if it goes between the listing and the reading of its files.
func TestLosesNoWorktreeToAnother(t *testing.T) {
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{
		"failed to read '/project/.git/worktrees/T0/locked'",
		"Invalid path '/project/.git/worktrees/T0'",
	} {
		s := newScene(t)
		bin, once := filepath.Join(s.base, "bin"), filepath.Join(s.base, "once")
		s.must(os.Mkdir(bin, 0o700))
		s.must(os.WriteFile(filepath.Join(bin, "git"), []byte(`#!/bin/sh
case " $* " in *" worktree add "*) if mkdir "`+once+`" 2>/dev/null; then
	echo "fatal: `+message+`: No such file or directory" >&2; exit 128
fi;; esac
exec `+real+` "$@"
`), 0o700))
		s.environ[0] = "PATH=" + bin + ":" + os.Getenv("PATH")
		s.add(s.open(), "T")
		if _, err := os.Stat(once); err != nil {
			t.Error("git was never asked to add a worktree")
		}
	}
}
