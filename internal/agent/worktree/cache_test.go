//go:build unix

package worktree_test

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// comparer returns a function that takes snapshots with a cache, and compares each with
// one without. It returns the last one.
func (s scene) comparer() func(what string) *worktree.Snapshot {
	cached := s.tree()
	cached.Cache = &worktree.Cache{}
	again := cached
	again.Reread = worktree.RereadAll
	return func(what string) (shot *worktree.Snapshot) {
		s.Helper()
		fresh, err := s.tree().Snapshot(s.Context(), worktree.Scope{})
		s.must(err)
		for _, tree := range []worktree.Tree{cached, cached, again} {
			shot, err = tree.Snapshot(s.Context(), worktree.Scope{})
			s.must(err)
			if shot.Digest() != fresh.Digest() || len(worktree.Compare(fresh, shot)) > 0 {
				s.Errorf("%s: with a cache it differs in %v", what, lines(worktree.Compare(fresh, shot)))
			}
		}
		return shot
	}
}

// TestCacheSeesFiles: a snapshot with a cache sees every kind of change, also of a file
// that is as new as the snapshot before.
func TestCacheSeesFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	kinds(t, func(t *testing.T, s scene) {
		same := s.comparer()
		same("at first")
		for range 10 { // of one size, in one step of the clock
			s.write("src/a.go", "package b\n")
			same("written")
			s.write("src/a.go", "package c\n")
			same("written again")
		}
		long := time.Now().Add(-time.Hour)
		s.must(os.Chtimes(s.path("src/a.go"), long, long))
		same("an hour old")
		s.write("src/a.go", "package d\n")
		s.must(os.Chtimes(s.path("src/a.go"), long, long))
		same("with the time set back")
		s.must(os.Rename(s.path("src/deep/b.go"), s.path("src/a.go")))
		same("replaced and removed")
		s.must(os.Chmod(s.path("run.sh"), 0o755))
		same("mode")
		s.must(os.Remove(s.path("link")))
		s.must(os.Symlink("elsewhere", s.path("link")))
		same("link")
		s.write("src/new/x", "")
		same("new directory")
		s.must(os.Remove(s.path("src/new/x")))
		s.must(os.Symlink("/", s.path("src/new/x")))
		same("type")
		time.Sleep(100 * time.Millisecond)
		before := same("settled")
		if last := same("unchanged"); last != before {
			t.Error("an unchanged tree has another snapshot")
		}
	})
}

// TestCacheSeesGit: what git lists is asked again if anything changes that it depends on.
func TestCacheSeesGit(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	s := newRepository(t)
	s.write("x.log", "x")
	s.write("sub/x.log", "x")
	same := s.comparer()
	same("at first")
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"an ignore file", func() { s.write(".gitignore", "*.log\n") }},
		{"another one of the same size", func() { s.write(".gitignore", "*.txt\n") }},
		{"one in a directory", func() { s.write("sub/.gitignore", "!*.log\n") }},
		{"a link in its place", func() {
			s.must(os.Rename(s.path("sub/.gitignore"), s.path("sub/other")))
			s.must(os.Symlink("other", s.path("sub/.gitignore")))
		}},
		{"another content behind it", func() { s.write("sub/other", "*.log\n") }},
		{"none", func() { s.must(os.Remove(s.path("sub/.gitignore"))); s.must(os.Remove(s.path(".gitignore"))) }},
		{"info/exclude", func() { s.write(".git/info/exclude", "*.log\n") }},
		{"the user's file", func() {
			s.must(os.MkdirAll(s.home+"/.config/git", 0o700))
			s.must(os.WriteFile(s.home+"/.config/git/ignore", []byte("*.txt\n"), 0o600))
		}},
		{"a relative file of settings", func() {
			s.write("ignore-me", "other\n")
			s.git(".", "config", "core.excludesFile", "ignore-me")
		}},
		{"its content", func() { s.write("ignore-me", "x.log\n") }},
		{"no such setting", func() { s.git(".", "config", "--unset", "core.excludesFile") }},
		{"staged", func() { s.git(".", "add", "-A") }},
		{"staged by force", func() { s.git(".", "add", "-f", "x.log") }},
		{"hidden", func() { s.git(".", "update-index", "--assume-unchanged", "x.log") }},
		{"committed", func() { s.commit() }},
		{"a repository that git does not list", func() { s.git("sub", "init", "-q") }},
		{"a setting of it", func() { s.git("sub", "config", "core.hooksPath", "x") }},
		{"no such repository", func() { s.must(os.RemoveAll(s.path("sub/.git"))) }},
		{"a pipe", func() { s.must(syscall.Mkfifo(s.path("pipe"), 0o600)) }},
		{"no pipe", func() { s.must(os.Remove(s.path("pipe"))) }},
		{"a repository", func() { s.write("nested/x", "x"); s.git("nested", "init", "-q") }},
		{"a file in it", func() { s.write("nested/y", "x") }},
		{"no repository", func() { s.must(os.RemoveAll(s.path("nested/.git"))) }},
		{"a working tree", func() { s.git(".", "worktree", "add", "-q", "--detach", "linked") }},
	} {
		c.do()
		same(c.what)
	}
}

// TestCacheOfManyTrees: one cache serves concurrent snapshots of more trees than it keeps.
func TestCacheOfManyTrees(t *testing.T) {
	cache := &worktree.Cache{}
	var all sync.WaitGroup
	s := newScene(t)
	for i := range 40 {
		tree := s.tree()
		tree.Root, tree.Cache, tree.Environ = t.TempDir(), cache, nil
		s.must(os.WriteFile(tree.Root+"/a", []byte{byte(i)}, 0o600))
		all.Go(func() {
			first, err := tree.Snapshot(t.Context(), worktree.Scope{})
			if err != nil {
				t.Error(err)
				return
			}
			if second, err := tree.Snapshot(t.Context(), worktree.Scope{}); err != nil || second.Digest() != first.Digest() {
				t.Errorf("tree %d: %v", i, err)
			}
		})
	}
	all.Wait()
}
