package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/switchyard-dev/switchyard/host/folder"
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

// names lists what lies in a folder.
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

func TestMakeMakesAFolderForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 2 { // The second time it is there.
		root, err := folder.Make(path)
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
	if _, err := folder.Make(filepath.Join(path, "no", "such")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder in a folder that is missing: %v", err)
	}
}

func TestMakeFollowsNoLink(t *testing.T) {
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
		if _, err := folder.Make(filepath.Join(dir, name)); !errors.Is(err, folder.ErrNoFolder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Make(filepath.Join(dir, "file")); !errors.Is(err, folder.ErrNoFolder) {
		t.Errorf("a file: %v", err)
	}
}

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
	f, err := folder.OpenFile(root, "file", os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, want := range map[string]error{"folder": folder.ErrNoFile, "link": folder.ErrNoFile, "nothing": fs.ErrNotExist} {
		if _, err := folder.OpenFile(root, name, os.O_RDONLY); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReplaceLeavesTheNewFileAlone(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	root := open(t, dir)
	for _, text := range []string{"one", "two"} {
		if err := folder.Replace(root, "f", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if got, _ := os.ReadFile(victim); string(got) != "theirs" {
		t.Errorf("it wrote through a link: %q", got)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := folder.Replace(root, "folder", nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left behind: %q", got)
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	if err := root.Mkdir("drafts", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := folder.Create(root, "drafts", "f", []byte("first"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := folder.Create(root, "drafts", "f", []byte("second"), 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if got := names(t, filepath.Join(dir, "drafts")); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestReasonHasNoPath(t *testing.T) {
	_, err := os.Open(filepath.Join(t.TempDir(), "secret"))
	if got := folder.Reason(err).Error(); got != "no such file or directory" && runtime.GOOS != "windows" {
		t.Error(got)
	}
	plain := errors.New("plain")
	if folder.Reason(plain) != plain {
		t.Error("an error without a path is another one")
	}
}
