package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/confine"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// world is a project, a temporary directory and a directory elsewhere, each with a file f
// that holds the directory's name.
type world struct{ project, temp, outside string }

func newWorld(t *testing.T) world {
	t.Helper()
	top := t.TempDir()
	w := world{filepath.Join(top, "project"), filepath.Join(top, "temp"), filepath.Join(top, "elsewhere")}
	for _, folder := range []string{w.project, w.temp, w.outside, filepath.Join(w.project, "sub")} {
		must(t, os.Mkdir(folder, 0o700))
		put(t, filepath.Join(folder, "f"), filepath.Base(folder))
	}
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("no right to make symbolic links: %v", err)
		}
		t.Fatal(err)
	}
}

// open opens the world's bases; relative paths start in the project.
func (w world) open(t *testing.T) *confine.Bases {
	t.Helper()
	b, err := confine.Open(w.project, w.temp, w.project)
	must(t, err)
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// holdDetails holds that an error tells no directory.
func holdDetails(t *testing.T, err error) {
	t.Helper()
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		t.Errorf("no typed error: %v", err)
		return
	}
	path, _ := f.Details["path"].(string)
	if path == "" || filepath.Base(path) != path || strings.Contains(f.Message, string(filepath.Separator)) {
		t.Errorf("the error tells %q, %q", path, f.Message)
	}
}

func TestOpenNeedsBothFolders(t *testing.T) {
	w := newWorld(t)
	for name, paths := range map[string][2]string{
		"no project":      {filepath.Join(w.project, "none"), w.temp},
		"no temp":         {w.project, filepath.Join(w.temp, "none")},
		"temp is unset":   {w.project, ""},
		"temp is a file":  {w.project, filepath.Join(w.temp, "f")},
		"project is file": {filepath.Join(w.project, "f"), w.temp},
	} {
		b, err := confine.Open(paths[0], paths[1], w.project)
		if errs.CodeOf(err) != errs.SpawnBaseMissing || b != nil {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
}
