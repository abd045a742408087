//go:build unix

package safefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// TestTheUmaskTakesFromNewFilesAlone: what is like another file has its permissions,
// those that the umask would take too.
func TestTheUmaskTakesFromNewFilesAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	root := open(t, dir)
	old := syscall.Umask(0o027)
	t.Cleanup(func() { syscall.Umask(old) })
	mode := func() os.FileMode {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if err := safefile.Replace(root, "f", nil, 0o666); err != nil || mode() != 0o640 {
		t.Errorf("a new file is %v, %v", mode(), err)
	}
	if err := os.Chmod(path, 0o646); err != nil {
		t.Fatal(err)
	}
	like, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := safefile.ReplaceWith(root, "f", strings.NewReader("new"), safefile.Options{Mode: like.Mode().Perm(), Exact: true}); err != nil || mode() != 0o646 {
		t.Errorf("one like it is %v, %v", mode(), err)
	}
	if got, err := os.ReadFile(path); string(got) != "new" {
		t.Errorf("%q, %v", got, err)
	}
}
