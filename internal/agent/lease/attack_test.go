//go:build unix

package lease_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFoldersThatOnlySoundLikeOurs: an agent may have written the record, and the
// user may keep copies of our own repository among the temporary files.
func TestFoldersThatOnlySoundLikeOurs(t *testing.T) {
	for _, name := range []string{"switchyard-main", "switchyard-", "switchyard-1.old", "switchyard-tree-1", "switchyard-1\n"} {
		s := newScene(t)
		folder := filepath.Join(s.temp, name)
		s.must(os.Mkdir(folder, 0o700))
		r := record(4711, "r1")
		r.Process.Folder = folder
		if _, err := s.leave(r); err == nil {
			t.Errorf("%q: nobody is told that it was left", name)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
