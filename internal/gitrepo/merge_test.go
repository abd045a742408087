//go:build unix

package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

// mergeRequest merges a task's branch into main, which the user has not checked out.
func (s *scene) mergeRequest(w gitrepo.Worktree) gitrepo.MergeRequest {
	return gitrepo.MergeRequest{
		Base: "main", Tip: s.git(s.dir, "rev-parse", w.Branch), Path: filepath.Join(s.base, stateDir, "merge"), Message: "Merge " + w.Branch,
		Trailers: []gitrepo.Trailer{{Key: gitrepo.DecisionTrailer, Value: "m"}},
	}
}

func (s *scene) merge(r *gitrepo.Repo, m gitrepo.MergeRequest) gitrepo.MergeResult {
	s.Helper()
	main := s.git(s.dir, "rev-parse", "main")
	result, err := r.Merge(s.Context(), m)
	s.must(err)
	s.equal(s.git(s.dir, "rev-parse", "main"), main)
	s.equal(result.Base, main)
	s.equal(s.git(m.Path, "status", "--porcelain"), "")
	return result
}

func TestMerge(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "switch", "-q", "-c", "mine")
	r, before := s.open(), s.state()
	one, two, three := s.add(r, "one"), s.add(r, "two"), s.add(r, "three")

	// A descendant of the base needs no commit of its own.
	tip := s.edit(r, one, "one.txt", "1\n")
	m := s.mergeRequest(one)
	result := s.merge(r, m)
	s.equal(result.Commit, tip)
	s.equal(s.git(m.Path, "rev-parse", "HEAD"), tip)
	s.equal(s.git(m.Path, "branch", "--show-current"), "")
	s.must(r.Advance(t.Context(), "main", result.Commit, result.Base))
	s.equal(s.git(s.dir, "rev-parse", "main"), tip)

	// Another one is merged, over what the last merge and its verification left.
	s.write(filepath.Join(m.Path, "build"), "x\n")
	s.write(filepath.Join(m.Path, "a.txt"), "x\n")
	tip2 := s.edit(r, two, "two.txt", "2\n")
	m = s.mergeRequest(two)
	result = s.merge(r, m)
	s.equal(s.git(s.dir, "log", "-1", "--format=%P%n%B", result.Commit), tip+" "+tip2+"\nMerge switchyard/two\n\nSwitchyard-Decision: m")
	s.equal(s.git(m.Path, "rev-parse", "HEAD"), result.Commit)
	for _, name := range []string{"one.txt", "two.txt"} {
		if _, err := os.Stat(filepath.Join(m.Path, name)); err != nil {
			t.Error(err)
		}
	}
	s.must(r.Advance(t.Context(), "main", result.Commit, result.Base))
	merged := result.Commit

	// What is merged already changes nothing. A merge counts only as long as it has nothing
	// of anybody else.
	result = s.merge(r, m)
	s.equal(fmt.Sprintf("%s %v", result.Commit, result.Has), merged+" true")
	main := s.git(s.dir, "rev-parse", "main")
	for _, parents := range [][]string{{"-p", merged}, {"-p", tip, "-p", tip2}} {
		other := s.git(s.dir, append([]string{"commit-tree", "-m", "x", "mine^{tree}"}, parents...)...)
		s.git(s.dir, "update-ref", "refs/heads/main", other)
		result = s.merge(r, m)
		s.equal(fmt.Sprintf("%s %v", result.Commit, result.Has), tip2+" true")
	}
	s.git(s.dir, "update-ref", "refs/heads/main", main)

	// A conflict names its files and leaves the base.
	s.edit(r, three, "one.txt", "another 1\n")
	s.edit(r, three, "d\n/two ü.txt", "3\n")
	m = s.mergeRequest(three)
	result = s.merge(r, m)
	s.equal(fmt.Sprintf("%q %q", result.Commit, result.Conflicts), `"" ["one.txt"]`)
	s.equal(s.git(m.Path, "rev-parse", "HEAD"), merged)
	s.equal(s.git(s.dir, "rev-parse", three.Branch), m.Tip)

	s.must(r.RemoveMerge(t.Context(), m.Path))
	s.must(r.RemoveMerge(t.Context(), m.Path))
	if _, err := os.Stat(m.Path); err == nil || strings.Contains(s.git(s.dir, "worktree", "list"), "/merge ") {
		t.Error("the worktree of the merge is still there")
	}
	s.git(s.dir, "update-ref", "refs/heads/main", s.git(s.dir, "rev-parse", "mine"))
	s.equal(s.state(), before)
}

// A merge driver that the attributes of the base name is used.
func TestMergeDriver(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, ".gitattributes"), "*.txt merge=union\n")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "commit", "-q", "-m", "attributes")
	s.git(s.dir, "switch", "-q", "-c", "mine", "HEAD~") // without the attributes
	r := s.open()
	w := s.worktree("T")
	s.must(r.AddWorktree(t.Context(), w, s.git(s.dir, "rev-parse", "main")))
	other := s.worktree("U")
	s.must(r.AddWorktree(t.Context(), other, s.git(s.dir, "rev-parse", "main")))
	s.edit(r, w, "a.txt", "one\ntwo\n")
	s.must(r.Advance(t.Context(), "main", s.edit(r, other, "a.txt", "one\nthree\n"), s.git(s.dir, "rev-parse", "main")))
	result := s.merge(r, s.mergeRequest(w))
	s.equal(s.git(s.dir, "show", result.Commit+":a.txt"), "one\nthree\ntwo")
}

func TestMergeRefuses(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	s.edit(r, w, "b.txt", "two\n")
	m := s.mergeRequest(w)
	m.Base = "none"
	_, err := r.Merge(t.Context(), m)
	s.want(err, errs.MergeNoBranch)
	m = s.mergeRequest(w)
	for path, code := range map[string]errs.Code{w.Path: errs.WorktreeExists, filepath.Join(s.dir, "merge"): errs.WorktreeInside} {
		m.Path = path
		_, err := r.Merge(t.Context(), m)
		s.want(err, code)
	}
	// The error says why, and no advice of git about other things.
	m = s.mergeRequest(w)
	m.Base = "unrelated"
	s.git(s.dir, "branch", m.Base, s.git(s.dir, "commit-tree", "-m", "root", "HEAD^{tree}"))
	_, err = r.Merge(t.Context(), m)
	s.want(err, errs.GitFailed)
	s.equal(err.Error(), "git merge-tree failed: fatal: refusing to merge unrelated histories")
	s.must(r.RemoveMerge(t.Context(), m.Path))
	s.wantWorktree(w, m.Tip)
}

func TestAdvanceRefuses(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	old := s.git(s.dir, "rev-parse", "HEAD")
	tip := s.edit(r, w, "b.txt", "two\n")
	advance := func(code errs.Code) {
		t.Helper()
		before := s.state() + s.git(s.dir, "rev-parse", "main")
		s.want(r.Advance(t.Context(), "main", tip, old), code)
		s.equal(s.state()+s.git(s.dir, "rev-parse", "main"), before)
	}
	s.write(filepath.Join(s.dir, "a.txt"), "mine\n")
	advance(errs.BranchCheckedOut) // The checkout has a change.
	s.git(s.dir, "checkout", "-q", "--", "a.txt")
	s.write(filepath.Join(s.dir, "b.txt"), "mine\n")
	advance(errs.GitFailed) // It has an untracked file of that name.
	s.must(os.Remove(filepath.Join(s.dir, "b.txt")))
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "to rebase")
	was := old
	old = s.git(s.dir, "rev-parse", "HEAD")
	if out, err := s.tryGit(s.dir, "rebase", "--force-rebase", "--exec", "false", was); err == nil {
		t.Fatalf("the rebase does not stop: %s", out)
	}
	s.git(s.dir, "checkout", "-q", "--detach", was) // as if the rebase had done less
	advance(errs.BranchCheckedOut)
	s.git(s.dir, "rebase", "--abort")
	s.git(s.dir, "reset", "-q", "--hard", was)
	old = was
	s.git(s.dir, "switch", "-q", "-c", "mine")
	other := filepath.Join(s.base, "other")
	s.git(s.dir, "worktree", "add", "-q", other, "main")
	advance(errs.BranchCheckedOut)
	held, _ := errors.AsType[*errs.Error](r.Advance(t.Context(), "main", tip, old))
	s.equal(held.Hint, "check out another branch there, then run the task again with --merge")
	s.write(filepath.Join(other, "a.txt"), "x\n")
	s.git(other, "commit", "-q", "-a", "-m", "to rebase")
	old = s.git(s.dir, "rev-parse", "main")
	if out, err := s.tryGit(other, "rebase", "--exec", "false", "HEAD~"); err == nil {
		t.Fatalf("the rebase does not stop: %s", out)
	}
	advance(errs.BranchCheckedOut) // HEAD is detached, and the rebase will move main
	s.git(other, "rebase", "--abort")
	s.git(s.dir, "worktree", "remove", other)
	s.git(s.dir, "update-ref", "refs/heads/main", "main~")
	advance(errs.BranchMoved)
}

// TestAdvanceForwardsTheCheckout checks that the checkout follows its branch if nothing
// there would be lost.
func TestAdvanceForwardsTheCheckout(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	old := s.git(s.dir, "rev-parse", "HEAD")
	s.write(filepath.Join(s.dir, "notes.txt"), "untracked\n")
	tip := s.edit(r, w, "b.txt", "two\n")
	s.must(r.Advance(t.Context(), "main", tip, old))
	s.equal(s.git(s.dir, "rev-parse", "HEAD", "main"), tip+"\n"+tip)
	s.equal(s.git(s.dir, "status", "--porcelain"), "?? notes.txt")
	text, err := os.ReadFile(filepath.Join(s.dir, "b.txt"))
	s.must(err)
	s.equal(string(text), "two\n")
}

// In a submodule, and in a checkout whose git directory is elsewhere, git names the git
// directory as the main worktree.
func TestAdvanceWithSeparateGitDir(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "init", "-q", "--separate-git-dir", filepath.Join(s.base, "git dir"))
	r := s.open()
	w := s.add(r, "T")
	old := s.git(s.dir, "rev-parse", "HEAD")
	tip := s.edit(r, w, "b.txt", "two\n")
	s.must(r.Advance(t.Context(), "main", tip, old))
	s.equal(s.git(s.dir, "rev-parse", "HEAD"), tip)
	s.equal(s.git(s.dir, "status", "--porcelain"), "")
}

// A setting of the branch can make git merge do something else.
func TestAdvanceIgnoresMergeOptions(t *testing.T) {
	for _, branch := range []string{"main", "a=b"} {
		for _, option := range []string{"--squash", "-s ours"} {
			s := newScene(t)
			s.git(s.dir, "switch", "-q", "-C", branch)
			s.git(s.dir, "config", "branch."+branch+".mergeOptions", option)
			r := s.open()
			w := s.add(r, "T")
			old := s.git(s.dir, "rev-parse", "HEAD")
			tip := s.edit(r, w, "b.txt", "two\n")
			s.must(r.Advance(t.Context(), branch, tip, old))
			s.equal(s.git(s.dir, "rev-parse", "HEAD", branch), tip+"\n"+tip)
			s.equal(s.git(s.dir, "status", "--porcelain"), "")
		}
	}
}

// Git itself would write over a file that it ignores.
func TestAdvanceKeepsIgnoredFiles(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	old := s.git(s.dir, "rev-parse", "HEAD")
	s.write(s.file(w, ".gitignore"), "")
	tip := s.edit(r, w, "secret.log", "the agent's\n")
	s.write(filepath.Join(s.dir, "secret.log"), "the user's\n")
	before := s.state()
	s.want(r.Advance(t.Context(), "main", tip, old), errs.GitFailed)
	s.equal(s.state(), before)
}

// A stop in the middle would leave some of the new files at the old commit.
func TestAdvanceEndsAfterAStop(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	old := s.git(s.dir, "rev-parse", "HEAD")
	s.write(s.file(w, ".gitattributes"), "*.bin filter=slow\n")
	s.write(s.file(w, "a.txt"), "two\n")
	tip := s.edit(r, w, "z.bin", "x\n")
	begun := filepath.Join(s.base, "begun")
	s.git(s.dir, "config", "filter.slow.smudge", "touch "+begun+"; sleep 1; cat")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Advance(ctx, "main", tip, old) }()
	for ; ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ends first: %v", err)
		default:
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	s.equal(s.git(s.dir, "status", "--porcelain"), "")
	s.equal(s.git(s.dir, "rev-parse", "HEAD"), tip)
}

func TestMergeInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newScene(t)
	s.git(s.dir, "switch", "-q", "-c", "mine")
	r := s.open()
	base := s.git(s.dir, "rev-parse", "main")
	one, two := s.add(r, "one"), s.add(r, "two")
	s.edit(r, one, "one.txt", "1\n")
	s.edit(r, two, "two.txt", "2\n")
	s.must(r.Advance(t.Context(), "main", s.git(s.dir, "rev-parse", one.Branch), base))
	m := s.mergeRequest(two)
	s.interrupted(
		func(r *gitrepo.Repo) error { _, err := r.Merge(t.Context(), m); return err },
		func(when string) {
			if files := s.git(m.Path, "ls-files"); !strings.Contains(files, "one.txt\ntwo.txt") {
				t.Errorf("%s, the merge has %s", when, files)
			}
		},
		func() { s.must(r.RemoveMerge(t.Context(), m.Path)) })
}

func TestRemoveWorktree(t *testing.T) {
	s := newScene(t)
	s.git(s.dir, "switch", "-q", "-c", "mine")
	r := s.open()
	before := s.state()
	w := s.add(r, "T")
	tip := s.edit(r, w, "b.txt", "two\n")
	s.write(s.file(w, "x.log"), "ignored\n")
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.BranchUnmerged)
	s.wantWorktree(w, tip)
	s.want(r.RemoveWorktree(t.Context(), w, "none"), errs.RevisionUnknown)
	for range 2 {
		s.must(r.RemoveWorktree(t.Context(), w, tip))
		s.equal(s.git(s.dir, "branch", "--list", "switchyard/*"), "")
		if _, err := os.Stat(w.Path); err == nil {
			t.Error("the worktree is still there")
		}
	}
	s.equal(s.state(), before)

	// What others own stays.
	s.git(s.dir, "worktree", "add", "-q", "--detach", w.Path)
	s.git(s.dir, "worktree", "lock", w.Path)
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.WorktreeExists)
	s.git(s.dir, "worktree", "remove", "-f", "-f", w.Path)
	s.write(s.file(w, "precious"), "x")
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.WorktreeExists)
	s.must(os.RemoveAll(w.Path))
	s.git(s.dir, "switch", "-q", "-c", w.Branch)
	s.want(r.RemoveWorktree(t.Context(), w, "main"), errs.BranchCheckedOut)
	s.git(s.dir, "rev-parse", "--verify", w.Branch)
}

func TestRemoveWorktreeInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newScene(t)
	w := s.add(s.open(), "T")
	s.interrupted(
		func(r *gitrepo.Repo) error { return r.RemoveWorktree(t.Context(), w, "main") },
		func(when string) {
			if list := s.git(s.dir, "worktree", "list") + s.git(s.dir, "branch"); strings.Contains(list, "switchyard") {
				t.Errorf("%s, there is %s", when, list)
			}
			s.wantNoFiles()
		},
		func() { s.add(s.open(), "T") })
}

func TestPush(t *testing.T) {
	s := newScene(t)
	r := s.open()
	w := s.add(r, "T")
	remote := filepath.Join(s.base, "remote")
	s.git(s.base, "init", "-q", "--bare", remote)
	s.git(s.dir, "remote", "add", "origin", remote)
	s.git(s.dir, "tag", "-a", "-m", "x", "v1")
	s.git(s.dir, "config", "push.followTags", "true")
	hook := filepath.Join(s.dir, ".git", "hooks", "pre-push")
	s.must(os.WriteFile(hook, []byte("#!/bin/sh\necho \"$1\" >>'"+s.base+"/pushed'\n"), 0o700))
	for range 2 {
		s.must(r.Push(t.Context(), "origin", w.Branch, nil))
	}
	s.equal(s.git(remote, "for-each-ref", "--format=%(refname)"), "refs/heads/"+w.Branch)
	if pushed, err := os.ReadFile(s.base + "/pushed"); err != nil || string(pushed) != "origin\norigin\n" {
		t.Errorf("the hook ran %q, %v", pushed, err)
	}
	for _, name := range []string{"none", "--mirror"} {
		_, err := r.RemoteURL(t.Context(), name)
		s.want(err, errs.RemoteUnknown)
	}
	for _, known := range []string{"origin", remote} {
		url, err := r.RemoteURL(t.Context(), known)
		s.must(err)
		s.equal(url, remote)
	}
	for _, url := range []string{"none", "--mirror", filepath.Join(s.base, "gone"), "https://me:secret@127.0.0.1:1/x", "ext::touch " + s.base + "/ran"} {
		err := r.Push(t.Context(), url, w.Branch, nil)
		s.want(err, errs.PushFailed)
		if strings.Contains(fmt.Sprintf("%v %#v", err, err), "secret") {
			t.Errorf("a password is in %#v", err)
		}
	}
	s.must(os.WriteFile(hook, []byte("#!/bin/sh\necho not today >&2; exit 1\n"), 0o700))
	if err := r.Push(t.Context(), "origin", w.Branch, nil); errs.CodeOf(err) != errs.PushFailed || !strings.Contains(err.Error(), "not today") {
		t.Errorf("a hook that refuses gives %v", err)
	}
}

// A removal that was killed after it had unlocked the worktree is completed.
func TestRemoveMergeAgain(t *testing.T) {
	s := newScene(t)
	r := s.open()
	path := filepath.Join(s.base, "merge")
	s.git(s.dir, "branch", "base")
	_, err := r.Merge(t.Context(), gitrepo.MergeRequest{Base: "base", Tip: "base", Path: path})
	s.must(err)
	s.must(os.RemoveAll(path))
	s.git(s.dir, "worktree", "unlock", path)
	s.must(r.RemoveMerge(t.Context(), path))
	if out := s.git(s.dir, "worktree", "list"); strings.Contains(out, path) {
		t.Errorf("the worktree is there still: %s", out)
	}
}
