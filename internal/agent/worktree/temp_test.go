//go:build unix

package worktree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
)

// What a killed process leaves behind is removed by the next look, and what belongs to
// one that is under way is not.
func TestLeftFolders(t *testing.T) {
	s := newRepository(t)
	left := filepath.Join(os.TempDir(), "switchyard-tree-1")
	s.must(os.MkdirAll(filepath.Join(left, "mirror-1", "objects"), 0o700))
	s.must(os.WriteFile(filepath.Join(left, "lock"), nil, 0o600))
	s.must(os.Mkdir(filepath.Join(os.TempDir(), "switchyard-tree-2"), 0o700))
	s.must(os.MkdirAll(filepath.Join(os.TempDir(), "switchyard-tree-3", "mirror-1"), 0o700))
	old := time.Now().Add(-2 * time.Hour)
	for n := range 3 {
		s.must(os.Chtimes(filepath.Join(os.TempDir(), fmt.Sprintf("switchyard-tree-%d", n+1)), old, old))
	}
	var looks sync.WaitGroup
	for range 8 {
		looks.Go(func() {
			for range 5 {
				if _, err := s.tree().Snapshot(t.Context(), worktree.Scope{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	looks.Wait() // The scene wants nothing left.
}
