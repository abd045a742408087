//go:build unix

package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// TestNoPipeIsWaitedFor: nobody ever writes into it.
func TestNoPipeIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := open(t, dir)
	for name, open := range map[string]func() (*os.File, error){
		"OpenFile": func() (*os.File, error) { return safefile.OpenFile(root, "pipe", os.O_RDONLY) },
		"Follow":   func() (*os.File, error) { return safefile.Open(root, "pipe") },
	} {
		if _, err := open(); !errors.Is(err, safefile.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
