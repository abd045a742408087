//go:build unix

package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// state opens a state directory and closes it again.
func state(path string) error {
	root, err := safefile.OpenState(path)
	if err != nil {
		return err
	}
	return root.Close()
}

func TestStateIsIgnored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 2 {
		if err := state(path); err != nil {
			t.Fatal(err)
		}
		if got := names(t, path); len(got) != 1 || got[0] != safefile.IgnoreFile {
			t.Errorf("it holds %q", got)
		}
	}
	// What a user makes of the file stays.
	file := filepath.Join(path, safefile.IgnoreFile)
	for _, put := range []func() error{
		func() error { return os.WriteFile(file, []byte("mine"), 0o644) },
		func() error { return errors.Join(os.Remove(file), os.Symlink("nowhere", file)) },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(file)
		if err := state(path); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Lstat(file); err != nil || after.Size() != before.Size() || after.Mode() != before.Mode() {
			t.Errorf("%v became %v, %v", before, after, err)
		}
	}
}

func TestStateIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o777, 0o755, 0o701, 0o700} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := state(path); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("of %v, %v, %v", mode, info.Mode(), err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("a directory can be given to somebody else by root alone")
	}
	if err := os.Chown(path, 4711, -1); err != nil {
		t.Fatal(err)
	}
	if err := state(path); !errors.Is(err, safefile.ErrForeign) {
		t.Errorf("the directory of somebody else: %v", err)
	}
}
