package safefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	inner := filepath.Join(dir, "gone", "cache", "module")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(inner, "x"), filepath.Join(dir, "stays")} {
		if err := os.WriteFile(name, nil, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	// For everybody but root nothing can be removed below these.
	for _, locked := range []string{inner, filepath.Dir(inner)} {
		if err := os.Chmod(locked, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // The second time there is nothing.
		if err := safefile.RemoveAll(root, "gone"); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 || left[0].Name() != "stays" {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}
