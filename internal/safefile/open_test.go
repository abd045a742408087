package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

func TestOpenFileOpensRegularFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	root := open(t, dir)
	f, err := safefile.OpenFile(root, "file", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, want := range map[string]error{"folder": safefile.ErrNotRegular, "link": safefile.ErrNotRegular, "nothing": fs.ErrNotExist} {
		if _, err := safefile.OpenFile(root, name, os.O_RDONLY); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenStaysBelowItsRoot(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "folder", "file"), filepath.Join(outside, "file")} {
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": "folder/file", "way": "folder", "dangling": "nothing", "out": outside} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root := open(t, dir)
	for _, name := range []string{"folder/file", "link", "way/file"} {
		if got, err := safefile.Read(root, name, 5); string(got) != "12345" || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]error{"folder": safefile.ErrNotRegular, "way": safefile.ErrNotRegular, "nothing": fs.ErrNotExist, "dangling": fs.ErrNotExist} {
		if got, err := safefile.Read(root, name, 5); got != nil || !errors.Is(err, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := safefile.Read(root, "out/file", 5); got != nil || !errors.Is(err, safefile.ErrOutside) {
		t.Errorf("it read %q outside, %v", got, err)
	}
}

// TestReadHoldsItsLimit: a file of just the limit is read, and one byte more is not.
func TestReadHoldsItsLimit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "five"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := open(t, dir)
	if got, err := safefile.Read(root, "five", 5); string(got) != "12345" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := safefile.Read(root, "five", 4); got != nil || err == nil || err.Error() != "larger than 4 bytes" {
		t.Errorf("%q, %v", got, err)
	}
}
