//go:build unix

package gitrepo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

func TestOpenRefuses(t *testing.T) {
	s := newScene(t)
	dir := func(name string) string {
		dir := filepath.Join(s.base, name)
		s.must(os.Mkdir(dir, 0o700))
		return dir
	}
	bare, empty, foreign := dir("bare"), dir("empty"), dir("foreign")
	s.git(bare, "init", "-q", "--bare")
	s.git(empty, "init", "-q")
	s.git(foreign, "init", "-q")
	for path, code := range map[string]errs.Code{
		dir("none"): errs.RepositoryMissing, bare: errs.RepositoryBare, filepath.Join(s.dir, ".git"): errs.RepositoryBare, empty: errs.RepositoryEmpty,
	} {
		_, err := s.tryOpen(path)
		s.want(err, code)
	}
	if os.Geteuid() == 0 {
		s.must(os.Chown(foreign, 12345, 12345))
		_, err := s.tryOpen(foreign)
		s.want(err, errs.RepositoryUnsafe)
	} else {
		t.Log("only root can give a repository to another user")
	}
}

func TestOpenWithoutGit(t *testing.T) {
	s := newScene(t)
	bin := filepath.Join(s.base, "bin")
	s.must(os.Mkdir(bin, 0o700))
	s.environ[0] = "PATH=" + bin
	_, err := s.tryOpen(s.dir)
	s.want(err, errs.GitMissing)
	for version, code := range map[string]errs.Code{
		"git version 2.37.9": errs.GitTooOld, "git version 1.99": errs.GitTooOld, "nonsense": errs.GitTooOld, "git version 3.0.rc1 (Apple Git-1)": errs.RepositoryBare,
	} {
		s.must(os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho '"+version+"'\n"), 0o700))
		_, err := s.tryOpen(s.dir)
		s.want(err, code)
	}
}

func TestResolve(t *testing.T) {
	s := newScene(t)
	r := s.open()
	s.git(s.dir, "switch", "-q", "--detach")
	s.git(s.dir, "tag", "-a", "-m", "tag", "v1")
	for rev, want := range map[string]string{"HEAD": "", "main": "main", "heads/main": "main", "v1": "", "main~0": ""} {
		commit, branch, err := r.Resolve(t.Context(), rev)
		s.must(err)
		s.equal(commit+" "+branch, s.git(s.dir, "rev-parse", "HEAD")+" "+want)
	}
	s.git(s.dir, "switch", "-q", "main")
	_, branch, err := r.Resolve(t.Context(), "HEAD")
	s.must(err)
	s.equal(branch, "main")
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "second")
	for _, rev := range []string{"", "none", "--all", "--", "a..b", "v1..main", "v1...main", "^v1", "HEAD:a.txt", "x\ny", "@{"} {
		_, _, err := r.Resolve(t.Context(), rev)
		s.want(err, errs.RevisionUnknown)
	}
}

// Git takes a name for a tag, or for a file in its directory, rather than for a branch. Neither
// may take the place of the branch.
func TestResolveRefusesTheNameOfABranch(t *testing.T) {
	s := newScene(t)
	r := s.open()
	s.git(s.dir, "branch", "task")
	s.git(s.dir, "tag", "task")
	s.git(s.dir, "tag", "v1")
	for _, rev := range []string{"task", "v1"} { // The tag is at the same commit.
		_, _, err := r.Resolve(t.Context(), rev)
		s.must(err)
	}
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "second")
	s.git(s.dir, "branch", "-f", "task")
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "third")
	refused := func() {
		t.Helper()
		for _, rev := range []string{"task", "task~1", "task^0"} {
			_, _, err := r.Resolve(t.Context(), rev)
			s.want(err, errs.RevisionUnknown)
		}
		commit, branch, err := r.Resolve(t.Context(), "refs/heads/task")
		s.must(err)
		s.equal(commit+" "+branch, s.git(s.dir, "rev-parse", "main~1")+" task")
	}
	refused()
	s.git(s.dir, "tag", "-d", "task")
	s.git(s.dir, "update-ref", "refs/task", "HEAD")
	refused()
	s.git(s.dir, "update-ref", "-d", "refs/task")
	s.write(filepath.Join(s.dir, ".git", "task"), s.git(s.dir, "rev-parse", "HEAD")+"\n")
	refused()
}

// Git takes a name for a tag or a local branch rather than for the branch of a remote.
func TestResolveRefusesTheNameOfARemoteBranch(t *testing.T) {
	s := newScene(t)
	r := s.open()
	s.git(s.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	want := s.git(s.dir, "rev-parse", "HEAD")
	resolved := func(rev string) {
		t.Helper()
		commit, _, err := r.Resolve(t.Context(), rev)
		s.must(err)
		s.equal(commit, want)
	}
	resolved("origin/main")
	s.git(s.dir, "tag", "origin/main")
	resolved("origin/main") // The tag is at the same commit.
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "second")
	for _, kind := range []string{"refs/tags/", "refs/heads/"} {
		s.git(s.dir, "update-ref", kind+"origin/main", "HEAD")
		for _, rev := range []string{"origin/main", "origin/main~0"} {
			_, _, err := r.Resolve(t.Context(), rev)
			s.want(err, errs.RevisionUnknown)
		}
		resolved("refs/remotes/origin/main")
		s.git(s.dir, "update-ref", "-d", kind+"origin/main")
	}
}

// Git takes a short id for a ref of that name rather than for the commit.
func TestResolveRefusesTheNameOfACommit(t *testing.T) {
	s := newScene(t)
	r := s.open()
	id := s.git(s.dir, "rev-parse", "HEAD")
	short := id[:8]
	s.git(s.dir, "tag", short)
	resolved := func(rev, want string) {
		t.Helper()
		commit, _, err := r.Resolve(t.Context(), rev)
		s.must(err)
		s.equal(commit, want)
	}
	resolved(short, id) // The tag is at the same commit.
	s.git(s.dir, "commit", "-q", "--allow-empty", "-m", "second")
	s.git(s.dir, "tag", "-f", short)
	_, _, err := r.Resolve(t.Context(), short)
	s.want(err, errs.RevisionUnknown)
	resolved(id, id)
	resolved(id[:10], id)
	other := s.git(s.dir, "rev-parse", "HEAD")
	resolved("refs/tags/"+short, other)
	s.git(s.dir, "branch", "20260101") // It is no commit's id.
	resolved("20260101", other)
}

func TestDirty(t *testing.T) {
	s := newScene(t)
	r := s.open()
	before := s.state()
	if files, err := r.Dirty(t.Context()); err != nil || len(files) > 0 {
		t.Errorf("a clean checkout has %q, %v", files, err)
	}
	s.equal(s.state(), before)
	s.write(filepath.Join(s.dir, "a.txt"), "two\n")
	s.write(filepath.Join(s.dir, "new\n\"file"), "")
	s.write(filepath.Join(s.dir, "dir", "x"), "")
	s.write(filepath.Join(s.dir, "x.log"), "")
	files, err := r.Dirty(t.Context())
	s.must(err)
	slices.Sort(files)
	s.equal(fmt.Sprintf("%q", files), fmt.Sprintf("%q", []string{"a.txt", "dir/", "new\n\"file"}))
}

// Git accepts the branch of every task, and no two tasks have the same.
func TestTaskBranch(t *testing.T) {
	ids := []string{"", "a", "a..b", "a.", ".", "..", ".a", "x.lock", "x.lock.lock", "-", "@", "a@{b", "a b", "a/b", "ä", "a+b", "a%2Bb", "a.+b", "a+.b", "HEAD"}
	const letters = "aA0.-_lock.+%@{~^:?*[\\ /\x7f\n"
	for range 150 {
		id := make([]byte, 1+rand.IntN(8))
		for i := range id {
			id[i] = letters[rand.IntN(len(letters))]
		}
		ids = append(ids, string(id))
	}
	longest := strings.Repeat("a..", 42) + "ab"
	ids = append(ids, longest)
	seen := make(map[string]string)
	for _, id := range ids {
		branch := gitrepo.TaskBranch(id)
		if other, ok := seen[branch]; ok && other != id {
			t.Errorf("%q and %q have the same branch %q", id, other, branch)
		}
		seen[branch] = id
		if out, err := exec.Command("git", "check-ref-format", "--branch", branch).CombinedOutput(); err != nil {
			t.Errorf("git refuses the branch %q of %q: %v %s", branch, id, err, out)
		}
	}
	if n := len(gitrepo.TaskBranch(longest)); n > 140 {
		t.Errorf("a task id makes a branch of %d bytes", n)
	}
}

func TestSubmodules(t *testing.T) {
	s := newScene(t)
	r := s.open()
	if missing, err := r.Submodules(t.Context(), s.add(r, "before").Path); err != nil || missing != nil {
		t.Errorf("without submodules there are %q, %v", missing, err)
	}
	s.git(s.dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", s.dir, "lib one")
	s.git(s.dir, "commit", "-q", "-m", "a submodule")
	w := s.add(r, "T")
	missing, err := r.Submodules(t.Context(), w.Path)
	s.must(err)
	s.equal(fmt.Sprintf("%q", missing), `["lib one"]`)
	s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "HEAD^{tree}"))
	tip := s.edit(r, w, "b.txt", "two\n")
	s.equal(s.git(w.Path, "status", "--porcelain"), "")

	// Git does not remove a worktree with submodules, in which work can be lost.
	s.must(r.CheckDraft(t.Context(), w.Path))
	s.write(s.file(w, "lib one/work"), "x\n")
	_, err = r.WriteTree(t.Context(), w.Path)
	s.want(err, errs.RepositoryNested)
	s.equal(fmt.Sprint(r.CheckDraft(t.Context(), w.Path)), err.Error())
	if !strings.Contains(err.Error(), "/T/lib one is the directory of a submodule") {
		t.Errorf("got %v", err)
	}
	s.want(r.RemoveWorktree(t.Context(), w, tip), errs.RepositoryNested)
	s.must(os.Mkdir(s.file(w, "lib one/.git"), 0o700)) // This is no repository.
	s.want(r.CheckDraft(t.Context(), w.Path), errs.RepositoryNested)
	s.must(os.Rename(s.file(w, "lib one"), s.file(w, "real")))
	s.must(os.Symlink("real", s.file(w, "lib one")))
	s.must(r.CheckDraft(t.Context(), w.Path))
	s.tree(r, w)
	s.must(os.RemoveAll(s.file(w, "real")))
	s.must(os.Remove(s.file(w, "lib one")))
	s.git(w.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	s.want(r.RemoveWorktree(t.Context(), w, tip), errs.WorktreeDirty)
	s.git(w.Path, "submodule", "--quiet", "deinit", "--all")
	s.git(w.Path, "rm", "-q", "--cached", "a.txt")
	s.want(r.RemoveWorktree(t.Context(), w, tip), errs.WorktreeDirty)
	s.git(w.Path, "reset", "-q")

	// What .gitmodules says of changes is for people, not for us.
	s.git(w.Path, "config", "-f", ".gitmodules", "submodule.lib one.ignore", "all")
	s.git(s.dir, "config", "-f", ".gitmodules", "submodule.lib one.ignore", "all")
	ignored := s.commit(r, w, "ignored")
	s.git(w.Path, "update-index", "--cacheinfo", "160000,"+tip+",lib one")
	s.want(r.RemoveWorktree(t.Context(), w, ignored), errs.WorktreeDirty)
	changed, err := r.Changed(t.Context(), ignored, s.git(w.Path, "write-tree"))
	s.must(err)
	s.equal(fmt.Sprintf("%q", changed), `["lib one"]`)
	s.git(w.Path, "reset", "-q")
	s.must(r.RemoveWorktree(t.Context(), w, ignored))
	if _, err := os.Stat(w.Path); err == nil {
		t.Error("the worktree is still there")
	}
}

// Git does not make the directory of a submodule that a sparse checkout leaves out.
func TestSubmoduleOutsideSparseCheckout(t *testing.T) {
	s := newScene(t)
	s.write(filepath.Join(s.dir, "in", "x"), "x\n")
	first := s.git(s.dir, "rev-parse", "HEAD")
	s.git(s.dir, "add", "-A")
	s.git(s.dir, "update-index", "--add", "--cacheinfo", "160000,"+first+",out/lib")
	s.git(s.dir, "commit", "-q", "-m", "a submodule")
	s.git(s.dir, "sparse-checkout", "set", "in")
	r := s.open()
	w := s.add(r, "T")
	for range 2 {
		s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", "HEAD^{tree}"))
	}
	tree, err := r.CheckoutTree(t.Context())
	s.must(err)
	s.equal(tree, s.git(s.dir, "rev-parse", "HEAD^{tree}"))

	// What the draft has there counts.
	s.write(s.file(w, "out/lib"), "one\n")
	s.equal(s.git(s.dir, "cat-file", "-p", s.tree(r, w)+":out/lib"), "one")
}

// A confined process can write a repository into the directory of a submodule, with settings
// that let git status start a program there.
func TestSubmoduleStartsNothing(t *testing.T) {
	s := newScene(t)
	r := s.open()
	first := s.git(s.dir, "rev-parse", "HEAD")
	s.git(s.dir, "update-index", "--add", "--cacheinfo", "160000,"+first+",sub [1]")
	s.git(s.dir, "commit", "-q", "-m", "a submodule")
	w := s.add(r, "T")
	tip := s.edit(r, w, "b.txt", "two\n")
	started := filepath.Join(s.base, "started")
	for _, top := range []string{s.dir, w.Path} {
		s.plant(filepath.Join(top, "sub [1]"), first, started)
	}
	// The scene is of no use if the user's git does not start the program.
	s.git(s.dir, "status")
	s.must(os.Remove(started))

	s.equal(s.tree(r, w), s.git(s.dir, "rev-parse", tip+"^{tree}"))
	s.equal(s.tree(s.open(), w), s.git(s.dir, "rev-parse", tip+"^{tree}"))
	tree, err := r.CheckoutTree(t.Context())
	s.must(err)
	s.equal(tree, s.git(s.dir, "rev-parse", "HEAD^{tree}"))
	dirty, err := r.Dirty(t.Context())
	s.must(err)
	s.equal(fmt.Sprint(dirty), "[]")
	s.must(r.Advance(t.Context(), "main", tip, s.git(s.dir, "rev-parse", "HEAD")))
	if _, err := os.Stat(started); err == nil {
		t.Error("git started a program that the submodule's settings name")
	}

	// The commit of a submodule is still a change, and so is its removal.
	next := s.git(w.Path, "rev-parse", "HEAD")
	s.write(s.file(w, "sub [1]/.git/HEAD"), next+"\n")
	s.equal(s.git(s.dir, "rev-parse", s.tree(r, w)+":sub [1]"), next)
	s.must(os.RemoveAll(s.file(w, "sub [1]")))
	if out, err := s.tryGit(s.dir, "rev-parse", "--verify", s.tree(r, w)+":sub [1]"); err == nil {
		t.Errorf("the removed submodule is %s", out)
	}
}

// plant makes a repository with a commit checked out, and with settings that start a program,
// which makes a file, if git looks for changes in it.
func (s *scene) plant(dir, commit, started string) {
	s.Helper()
	s.git(s.base, "clone", "-q", s.dir, dir)
	s.git(dir, "checkout", "-q", commit)
	s.git(dir, "config", "filter.x.clean", "touch "+started+" && cat")
	s.write(filepath.Join(dir, ".git", "info", "attributes"), "a.txt filter=x\n")
	old := time.Unix(1, 0) // So git does not trust its index.
	s.must(os.Chtimes(filepath.Join(dir, "a.txt"), old, old))
}
