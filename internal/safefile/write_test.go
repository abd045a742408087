package safefile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// reader is a reader that is a function.
type reader func([]byte) (int, error)

func (r reader) Read(b []byte) (int, error) { return r(b) }

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
		if err := safefile.Replace(root, "f", []byte(text), 0o600); err != nil {
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
	if err := safefile.Replace(root, "folder", nil, 0o600); err == nil {
		t.Error("a directory was replaced")
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
	if err := safefile.Create(root, "drafts", "f", []byte("first"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Create(root, "drafts", "f", []byte("second"), 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if got := names(t, filepath.Join(dir, "drafts")); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// TestReplaceTakesTheLongestName: most file systems have names of up to 255 bytes,
// and the draft's must not be longer than the file's.
func TestReplaceTakesTheLongestName(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	name := strings.Repeat("x", 255)
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Skipf("skipped: no name here has 255 bytes: %v", err)
	}
	if err := safefile.Replace(root, name, []byte("new"), 0o600); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReplaceWithKeepsTheOldFileUntilTheEnd looks at the directory while the content is
// still being read.
func TestReplaceWithKeepsTheOldFileUntilTheEnd(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	if err := safefile.Replace(root, "f", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []string
	look := reader(func([]byte) (int, error) {
		seen = names(t, dir)
		if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "old" {
			t.Errorf("it is already %q, %v", got, err)
		}
		return 0, io.EOF
	})
	if err := safefile.ReplaceWith(root, "f", io.MultiReader(strings.NewReader("new"), look), safefile.Options{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	// A person must see what a draft is of that a killed process left.
	if len(seen) != 2 || !strings.HasPrefix(seen[0], ".f.") || seen[1] != "f" {
		t.Errorf("meanwhile there were %q", seen)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplaceWithAFailingReaderLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	if err := safefile.Replace(root, "f", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, name := range []string{"f", "new"} {
		half := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))
		if err := safefile.ReplaceWith(root, name, half, safefile.Options{Mode: 0o600}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{"f"}) {
		t.Errorf("there are %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplaceWithRemovesAnOldDraft(t *testing.T) {
	dir := t.TempDir()
	root := open(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "draft"), []byte("what a killed process left"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := safefile.ReplaceWith(root, "f", strings.NewReader("new"), safefile.Options{Mode: 0o600, Temp: "draft"}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
	// Its place is taken by what cannot be removed.
	if err := os.MkdirAll(filepath.Join(dir, "draft", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := safefile.ReplaceWith(root, "f", strings.NewReader("newer"), safefile.Options{Mode: 0o600, Temp: "draft"}); err == nil {
		t.Error("a directory was replaced")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"draft", "f"}) {
		t.Errorf("there are %q", got)
	}
}
