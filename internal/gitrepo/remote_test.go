//go:build unix

package gitrepo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
)

const draftRef = "refs/switchyard/drafts/T"

// remote makes a bare repository with the user's branch, and returns its path and the
// branch's commit.
func (s *scene) remote() (url, base string) {
	s.Helper()
	url = filepath.Join(s.base, "remote.git")
	s.git(s.base, "init", "-q", "--bare", url)
	s.git(s.dir, "push", "-q", url, "main")
	return url, s.git(s.dir, "rev-parse", "main")
}

// cache opens a cache with a copy of the user's branch.
func (s *scene) cache(url string) *gitrepo.Repo {
	s.Helper()
	r, err := s.tryCache("cache.git")
	s.must(err)
	_, err = r.Fetch(s.Context(), url, "refs/heads/main")
	s.must(err)
	return r
}

func (s *scene) tryCache(name string) (*gitrepo.Repo, error) {
	return gitrepo.OpenCache(s.Context(), filepath.Join(s.base, name), "", gitrepo.Options{Supervisor: s.supervisor, Environ: s.environ})
}

// child creates a commit of the same tree.
func (s *scene) child(r *gitrepo.Repo, parent, message string) string {
	s.Helper()
	commit, err := r.CreateCommit(s.Context(), s.git(s.dir, "rev-parse", "main^{tree}"), []string{parent}, message, []gitrepo.Trailer{{Key: "Switchyard-Order", Value: message}})
	s.must(err)
	return commit
}

func (s *scene) wantRef(r *gitrepo.Repo, url, ref, commit string) {
	s.Helper()
	at, err := r.RemoteRef(s.Context(), url, ref)
	s.must(err)
	s.equal(at, commit)
}

func TestOpenCache(t *testing.T) {
	s := newScene(t)
	url, base := s.remote()
	var all sync.WaitGroup
	for range 4 { // Two tasks of a project may begin at once.
		all.Go(func() {
			if _, err := s.tryCache("cache.git"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r := s.cache(url)
	// A git init that is killed has written HEAD first.
	s.must(os.RemoveAll(filepath.Join(s.base, "cache.git", "objects")))
	s.must(os.Remove(filepath.Join(s.base, "cache.git", "config")))
	s.wantRef(s.cache(url), url, "refs/heads/main", base)

	s.write(filepath.Join(s.base, "file"), "x")
	_, err := s.tryCache("file")
	s.want(err, errs.FileUnwritable)
	_, err = gitrepo.OpenCache(t.Context(), s.base, "", gitrepo.Options{Supervisor: s.supervisor, Environ: []string{"PATH=/nowhere"}})
	s.want(err, errs.GitMissing)
	_, err = r.RemoteURL(t.Context(), "origin")
	s.want(err, errs.RemoteUnknown)
	s.git(s.dir, "remote", "add", "origin", url)
	found, err := s.open().RemoteURL(t.Context(), "origin")
	s.must(err)
	s.equal(found, url)
}

func TestFetch(t *testing.T) {
	s := newScene(t)
	url, base := s.remote()
	r := s.cache(url)
	at, err := r.Fetch(t.Context(), url, draftRef)
	s.must(err)
	s.equal(at, "")
	s.wantRef(r, url, draftRef, "")
	// Git takes a name for the end of one.
	s.git(url, "update-ref", "refs/heads/"+draftRef, base)
	s.wantRef(r, url, draftRef, "")
	s.git(url, "update-ref", "-d", "refs/heads/"+draftRef)
	first := s.child(r, base, "first")
	s.must(r.PushRefs(t.Context(), url, gitrepo.RefMove{Ref: draftRef, To: first}))
	s.wantRef(r, url, draftRef, first)
	// The ref here follows the remote's, wherever that is.
	for _, commit := range []string{first, base} {
		s.git(url, "update-ref", draftRef, commit)
		at, err = s.cache(url).Fetch(t.Context(), url, draftRef)
		s.must(err)
		s.equal(at, commit)
	}
	got, err := r.ReadCommit(t.Context(), first)
	s.must(err)
	s.equal(fmt.Sprint(got.Trailers), "[{Switchyard-Order first}]")
	for _, url := range []string{filepath.Join(s.base, "nowhere"), "http://127.0.0.1:1/x.git"} {
		_, err = r.Fetch(t.Context(), url, draftRef)
		s.want(err, errs.FetchFailed)
		_, err = r.RemoteRef(t.Context(), url, draftRef)
		s.want(err, errs.FetchFailed)
		s.want(r.PushRefs(t.Context(), url, gitrepo.RefMove{Ref: draftRef, From: base, To: first}), errs.PushFailed)
	}
	_, err = r.CreateCommit(t.Context(), base+"^{tree}", []string{strings.Repeat("1", len(base))}, "x", nil)
	s.want(err, errs.GitFailed)
}

// A ref moves only from the commit that the caller knows to a descendant of it, and with
// all others or not at all.
func TestPushRefs(t *testing.T) {
	s := newScene(t)
	url, base := s.remote()
	r := s.cache(url)
	first, other := s.child(r, base, "first"), s.child(r, base, "other")
	second := s.child(r, first, "second")
	push := func(moves ...gitrepo.RefMove) error { return r.PushRefs(t.Context(), url, moves...) }
	s.must(push(gitrepo.RefMove{Ref: draftRef, To: base}))
	s.want(push(gitrepo.RefMove{Ref: draftRef, To: first}), errs.PushRejected)
	s.must(push(gitrepo.RefMove{Ref: draftRef, From: base, To: first}))
	for _, m := range []gitrepo.RefMove{
		{Ref: draftRef, From: base, To: other},
		{Ref: draftRef, From: base, To: second},
		{Ref: draftRef, From: first, To: other},
		{Ref: draftRef, From: first, To: base},
		{Ref: draftRef, From: second, To: second},
	} {
		s.want(push(m), errs.PushRejected)
		s.want(push(gitrepo.RefMove{Ref: "refs/heads/switchyard/T", To: second}, m), errs.PushRejected)
	}
	s.wantRef(r, url, draftRef, first)
	s.wantRef(r, url, "refs/heads/switchyard/T", "")
	s.must(push(gitrepo.RefMove{Ref: draftRef, From: first, To: second}, gitrepo.RefMove{Ref: "refs/heads/switchyard/T", To: first}))
	s.wantRef(r, url, draftRef, second)
	s.wantRef(r, url, "refs/heads/switchyard/T", first)

	s.git(url, "update-ref", "-d", draftRef)
	s.want(push(gitrepo.RefMove{Ref: draftRef, From: second, To: s.child(r, second, "third")}), errs.PushRejected)
	hook := filepath.Join(url, "hooks", "pre-receive")
	s.must(os.WriteFile(hook, []byte("#!/bin/sh\necho no drafts here >&2\nexit 1\n"), 0o700))
	err := push(gitrepo.RefMove{Ref: draftRef, To: second})
	s.want(err, errs.PushRejected)
	if !strings.Contains(fmt.Sprint(err.(*errs.Error).Details), "no drafts here") {
		t.Errorf("the error does not have what the remote says: %v", err)
	}
}

// A URL with a password is shown without it.
func TestRemoteHidesPassword(t *testing.T) {
	s := newScene(t)
	_, base := s.remote()
	r := s.open()
	const url = "http://ada:s3cretWord@127.0.0.1:1/x.git"
	_, fetch := r.Fetch(t.Context(), url, draftRef)
	_, list := r.RemoteRef(t.Context(), url, draftRef)
	push := r.PushRefs(t.Context(), url, gitrepo.RefMove{Ref: draftRef, To: base})
	for _, err := range []error{fetch, list, push} {
		f, ok := err.(*errs.Error)
		if !ok || strings.Contains(fmt.Sprintf("%v %v %+v", f, f.Details, f), "s3cret") {
			t.Errorf("got the error %v with %v", err, f)
		}
	}
}

// draft restores the draft of a task, which changes a.txt and adds a file.
func (s *scene) draft(r *gitrepo.Repo, task, base string) (w gitrepo.Worktree, draft string) {
	s.Helper()
	w = s.worktree(task)
	s.must(r.Restore(s.Context(), w, base, base))
	s.write(s.file(w, "a.txt"), task)
	s.write(s.file(w, "dir/new"), task)
	draft, err := r.CreateCommit(s.Context(), s.tree(r, w), []string{base}, "draft", nil)
	s.must(err)
	return w, draft
}

// wantDraft tests that a worktree has a draft that is not committed.
func (s *scene) wantDraft(w gitrepo.Worktree, head, task string) {
	s.Helper()
	s.equal(s.git(w.Path, "symbolic-ref", "HEAD"), "refs/heads/"+w.Branch)
	s.equal(s.git(w.Path, "rev-parse", "HEAD"), head)
	s.equal(s.git(w.Path, "status", "--porcelain", "--ignored", "-uall"), "M a.txt\n?? dir/new")
	for _, name := range []string{"a.txt", "dir/new"} {
		text, err := os.ReadFile(s.file(w, name))
		s.must(err)
		s.equal(string(text), task)
	}
}

// Worktrees of two tasks in one cache do not affect each other.
func TestRestoreOfTwoTasks(t *testing.T) {
	s := newScene(t)
	url, base := s.remote()
	s.cache(url)
	var all sync.WaitGroup
	for _, id := range []string{"T", "U"} {
		all.Go(func() {
			for range 3 {
				r, err := s.tryCache("cache.git")
				if err != nil {
					t.Error(err)
					return
				}
				w, draft := s.draft(r, id, base)
				s.write(s.file(w, "a.txt"), "changed")
				s.write(s.file(w, "ignored.log"), "x")
				s.must(r.Restore(t.Context(), w, base, draft))
				s.wantDraft(w, base, id)
			}
		})
	}
	all.Wait()
}

// Whatever an agent has done to its worktree, the next order has its draft there: restored,
// or in a new one.
func TestRestoreAfterAgent(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, damage := range map[string]func(s *scene, w gitrepo.Worktree){
		"files": func(s *scene, w gitrepo.Worktree) {
			s.write(s.file(w, "x.log"), "x")
			s.must(os.Remove(s.file(w, "a.txt")))
		},
		"skipped": func(s *scene, w gitrepo.Worktree) {
			s.git(w.Path, "update-index", "--skip-worktree", "a.txt")
			s.write(s.file(w, "a.txt"), "hidden")
		},
		"assumed": func(s *scene, w gitrepo.Worktree) {
			s.git(w.Path, "update-index", "--assume-unchanged", "a.txt")
			s.write(s.file(w, "a.txt"), "hidden")
		},
		"a directory": func(s *scene, w gitrepo.Worktree) {
			s.must(os.Remove(s.file(w, "a.txt")))
			s.write(s.file(w, "a.txt/x"), "x")
		},
		"a linked directory": func(s *scene, w gitrepo.Worktree) {
			s.must(os.RemoveAll(s.file(w, "dir")))
			s.must(os.Symlink(s.dir, s.file(w, "dir")))
		},
		"no directory": func(s *scene, w gitrepo.Worktree) { s.must(os.RemoveAll(w.Path)) },
		"a file":       func(s *scene, w gitrepo.Worktree) { s.must(os.RemoveAll(w.Path)); s.write(w.Path, "x") },
		"a link": func(s *scene, w gitrepo.Worktree) {
			s.must(os.RemoveAll(w.Path))
			s.must(os.Symlink(s.dir, w.Path))
		},
		"no .git":    func(s *scene, w gitrepo.Worktree) { s.must(os.Remove(s.file(w, ".git"))) },
		"own branch": func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "switch", "-q", "-c", "own") },
		"detached":   func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "switch", "-q", "--detach") },
		"commit":     func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "commit", "-q", "-a", "-m", "x") },
		"no branch":  func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "update-ref", "-d", "HEAD") },
		"bad index": func(s *scene, w gitrepo.Worktree) {
			s.write(filepath.Join(s.git(w.Path, "rev-parse", "--absolute-git-dir"), "index"), "x")
		},
		"index lock": func(s *scene, w gitrepo.Worktree) {
			s.write(filepath.Join(s.git(w.Path, "rev-parse", "--absolute-git-dir"), "index.lock"), "")
		},
		"nested":   func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "init", "-q", "nested") },
		"unlocked": func(s *scene, w gitrepo.Worktree) { s.git(w.Path, "worktree", "unlock", w.Path) },
		"removed": func(s *scene, w gitrepo.Worktree) {
			s.git(filepath.Join(s.base, "cache.git"), "worktree", "remove", "-f", "-f", w.Path)
		},
		"rebase": func(s *scene, w gitrepo.Worktree) {
			s.write(filepath.Join(s.git(w.Path, "rev-parse", "--absolute-git-dir"), "rebase-merge", "head-name"), "refs/heads/"+w.Branch+"\n")
		},
		"read-only": func(s *scene, w gitrepo.Worktree) { s.must(os.Chmod(s.file(w, "dir"), 0o500)) },
		"read-only and unknown": func(s *scene, w gitrepo.Worktree) {
			s.must(os.RemoveAll(filepath.Join(s.base, "cache.git", "worktrees")))
			s.must(os.Chmod(s.file(w, "dir"), 0o500))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			url, base := s.remote()
			before := s.state()
			r := s.cache(url)
			w, draft := s.draft(r, "T", base)
			damage(s, w)
			if err := r.Restore(t.Context(), w, base, draft); err != nil {
				t.Logf("a new worktree is needed: %v", err)
				s.must(r.Discard(t.Context(), w.Path))
				s.must(r.Restore(t.Context(), w, base, draft))
			}
			s.wantDraft(w, base, "T")
			s.equal(s.state(), before)
		})
	}
}

func TestRestoreInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newScene(t)
	base := s.git(s.dir, "rev-parse", "main")
	w, draft := s.draft(s.open(), "T", base)
	root := filepath.Join(s.base, stateDir, "root")
	s.interrupted(
		func(r *gitrepo.Repo) error {
			if err := r.CheckOut(t.Context(), root, base, ".switchyard"); err != nil {
				return err
			}
			return r.Restore(t.Context(), w, base, draft)
		},
		func(string) {
			s.wantDraft(w, base, "T")
			s.equal(s.git(root, "status", "--porcelain", "--ignored"), "")
		},
		func() {
			s.must(s.open().Discard(t.Context(), w.Path))
			s.must(s.open().Discard(t.Context(), root))
		})
}

func TestCheckOut(t *testing.T) {
	s := newScene(t)
	url, base := s.remote()
	r := s.cache(url)
	root := filepath.Join(s.base, stateDir, "root")
	w, draft := s.draft(r, "T", base)
	for i, commit := range []string{base, draft, base} {
		s.must(r.CheckOut(t.Context(), root, commit, ".switchyard"))
		s.equal(s.git(root, "rev-parse", "HEAD"), commit)
		s.equal(s.git(root, "status", "--porcelain", "--ignored"), "")
		s.write(filepath.Join(root, ".git-not"), "x")
		s.write(filepath.Join(root, "a.txt"), "changed")
		if i == 1 { // An agent can hide its changes of the project's settings.
			s.git(root, "update-index", "--skip-worktree", "a.txt")
		}
		s.write(filepath.Join(root, ".switchyard", "ledger.db"), commit)
		s.must(r.CheckOut(t.Context(), root, commit, ".switchyard"))
		s.equal(s.git(root, "status", "--porcelain", "--ignored"), "?? .switchyard/")
		s.equal(s.git(root, "hash-object", "a.txt"), s.git(root, "rev-parse", commit+":a.txt"))
		s.must(os.RemoveAll(filepath.Join(root, ".switchyard")))
	}
	s.want(r.CheckOut(t.Context(), filepath.Join(w.Path, "inside"), base, "x"), errs.WorktreeInside)
	s.want(r.CheckOut(t.Context(), s.dir, base, "x"), errs.WorktreeExists)
	s.write(filepath.Join(s.base, "file"), "x")
	s.want(r.CheckOut(t.Context(), filepath.Join(s.base, "file", "x"), base, "x"), errs.FileUnwritable)
	s.want(r.CheckOut(t.Context(), root, strings.Repeat("1", len(base)), "x"), errs.GitFailed)
	for range 2 {
		s.must(r.Discard(t.Context(), root))
		if _, err := os.Lstat(root); err == nil {
			t.Error("the worktree is still there")
		}
	}
}

func TestSameFile(t *testing.T) {
	s := newScene(t)
	r := s.open()
	for _, c := range []struct {
		name, text string
		same       bool
	}{
		{"a.txt", "one\n", true}, {"a.txt", "two\n", false}, {"new", "x", false}, {"none", "", true},
	} {
		if c.text != "" {
			s.write(filepath.Join(s.dir, c.name), c.text)
		}
		same, err := r.SameFile(t.Context(), "HEAD", c.name)
		s.must(err)
		if same != c.same {
			t.Errorf("%s with %q is the same: %v", c.name, c.text, same)
		}
	}
	s.must(os.Remove(filepath.Join(s.dir, "a.txt")))
	if same, err := r.SameFile(t.Context(), "HEAD", "a.txt"); same || err != nil {
		t.Errorf("a file that is gone is the same: %v, %v", same, err)
	}
}
