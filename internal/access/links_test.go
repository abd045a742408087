package access

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLinks compares the paths with those of filepath.EvalSymlinks.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"toA": "a", "a/toC": "../c", "c/file": "", "absolute": filepath.Join(dir, "a", "toC"), "gone": "nothing", "loop": "loop", "a/b/up": "..",
	} {
		path, err := filepath.Join(dir, name), error(nil)
		if target == "" {
			err = os.WriteFile(path, nil, 0o600)
		} else {
			err = os.Symlink(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l, existing := newLinks(), 0
	for _, name := range []string{
		"", ".", "a", "toA", "toA/b", "a/toC/file", "toA/toC/file", "absolute/file", "c/file/x", "gone", "gone/x", "loop", "loop/x", "nothing", "a/b/up/b/up/toC",
		"toA/../c",
	} {
		path := filepath.Join(dir, name)
		want, err := filepath.EvalSymlinks(path)
		got := l.real([]string{path})
		if err != nil {
			if len(got) > 0 {
				t.Errorf("%q: %q, want none: %v", name, got, err)
			}
			continue
		}
		existing++
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if existing != 10 {
		t.Errorf("%d paths exist, want 10", existing)
	}
	if got := l.real([]string{"a", "/"}); len(got) != 1 || got[0] != "/" {
		t.Errorf("a relative path and the root: %q", got)
	}
}
