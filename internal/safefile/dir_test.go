package safefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

func open(t *testing.T, path string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// names lists what lies in a directory.
func names(t *testing.T, path string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestMakeDirMakesAFolderForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 2 { // The second time it is there.
		root, err := safefile.MakeDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := root.WriteFile("f", nil, 0o600); err != nil {
			t.Error(err)
		}
		root.Close()
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := safefile.MakeDir(filepath.Join(path, "no", "such")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory in a directory that is missing: %v", err)
	}
}

func TestMakeDirFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"real", "real/inner"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"inside": "real", "outside": t.TempDir(), "dangling": "nothing"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := safefile.MakeDir(filepath.Join(dir, name)); !errors.Is(err, safefile.ErrNotFolder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safefile.MakeDir(filepath.Join(dir, "file")); !errors.Is(err, safefile.ErrNotFolder) {
		t.Errorf("a file: %v", err)
	}
}

func TestReasonHasNoPath(t *testing.T) {
	_, err := os.Open(filepath.Join(t.TempDir(), "secret"))
	if got := safefile.Reason(err).Error(); got != "no such file or directory" && runtime.GOOS != "windows" {
		t.Error(got)
	}
	plain := errors.New("plain")
	if safefile.Reason(plain) != plain {
		t.Error("an error without a path is another one")
	}
}
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
