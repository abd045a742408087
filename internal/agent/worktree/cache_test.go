//go:build unix

package worktree_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// TestCacheSeesWhatChanged: a snapshot with a cache has the digest of one without, after
// every kind of change, also of a file that is as new as the snapshot before.
func TestCacheSeesWhatChanged(t *testing.T) {
	kinds(t, func(t *testing.T, s scene) {
		cached := s.tree()
		cached.Cache = &worktree.Cache{}
		again := cached
		again.Reread = true
		var last *worktree.Snapshot
		same := func(what string) {
			t.Helper()
			scope := worktree.Scope{}
			fresh, err := s.tree().Snapshot(t.Context(), scope)
			s.must(err)
			for _, tree := range []worktree.Tree{cached, cached, again} {
				shot, err := tree.Snapshot(t.Context(), scope)
				s.must(err)
				if shot.Digest() != fresh.Digest() || len(worktree.Compare(fresh, shot)) > 0 {
					t.Errorf("%s: with a cache it differs in %v", what, lines(worktree.Compare(fresh, shot)))
				}
				last = shot
			}
		}
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
		s.write(".gitignore", "*.sh\n")
		same("ignored")
		time.Sleep(100 * time.Millisecond)
		same("settled")
		before := last
		same("unchanged")
		if last != before {
			t.Error("an unchanged tree has another snapshot")
		}
	})
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
