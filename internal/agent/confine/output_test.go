package confine_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// only holds that a directory has these names and no others.
func only(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %v, want %v", filepath.Base(folder), got, names)
	}
}

func TestOutput(t *testing.T) {
	w := newWorld(t)
	link(t, w.temp, filepath.Join(w.outside, "alias"))
	b := w.open(t)
	for path, at := range map[string]string{
		"new":                                 filepath.Join(w.project, "new"),
		"f":                                   filepath.Join(w.project, "f"), // It is there already.
		"sub/new":                             filepath.Join(w.project, "sub", "new"),
		"../temp/new":                         filepath.Join(w.temp, "new"),
		filepath.Join(w.outside, "alias/two"): filepath.Join(w.temp, "two"),
	} {
		o, err := b.Output(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(at)); err != nil || o.Path() != filepath.Join(real, filepath.Base(at)) {
			t.Errorf("%s is %s", path, o.Path())
		}
		must(t, o.Write(strings.NewReader("first")))
		must(t, o.Write(strings.NewReader("second")))
		if got := content(t, at); got != "second" {
			t.Errorf("%s holds %q", path, got)
		}
		if info, err := os.Stat(at); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	only(t, w.project, "f", "new", "sub")
	only(t, w.temp, "f", "new", "two")
}

// TestOutputWritesNothingBefore: what is prepared leaves the file as it is, and none
// where there is none.
func TestOutputWritesNothingBefore(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	for _, path := range []string{"f", "new"} {
		if _, err := b.Output(path); err != nil {
			t.Error(err)
		}
	}
	only(t, w.project, "f", "sub")
	if got := content(t, filepath.Join(w.project, "f")); got != "project" {
		t.Errorf("it holds %q", got)
	}
}

func TestOutputRefuses(t *testing.T) {
	w := newWorld(t)
	link(t, "f", filepath.Join(w.project, "inner"))
	link(t, filepath.Join(w.outside, "new"), filepath.Join(w.project, "dangling"))
	link(t, filepath.Join(w.outside, "f"), filepath.Join(w.project, "out"))
	link(t, w.outside, filepath.Join(w.project, "folder"))
	b := w.open(t)
	for path, want := range map[string]errs.Code{
		"inner":                         errs.SpawnOutputUnsafe,
		"dangling":                      errs.SpawnOutputUnsafe,
		"out":                           errs.SpawnOutputUnsafe,
		"sub":                           errs.SpawnOutputUnsafe,
		"folder/new":                    errs.SpawnPathOutside,
		"../elsewhere/new":              errs.SpawnPathOutside,
		"../elsewhere/none/new":         errs.SpawnPathOutside,
		"../new":                        errs.SpawnPathOutside,
		filepath.Join(w.outside, "new"): errs.SpawnPathOutside,
		w.project:                       errs.SpawnPathOutside,
		"":                              errs.SpawnPathOutside,
		"none/new":                      errs.SpawnOutputUnwritable,
		"f/new":                         errs.SpawnOutputUnwritable,
		"new\x00":                       errs.SpawnOutputUnwritable,
		strings.Repeat("x", 5000):       errs.SpawnOutputUnwritable,
	} {
		o, err := b.Output(path)
		if errs.CodeOf(err) != want || o != nil {
			t.Errorf("%.40q: %v, %v", path, o, err)
			continue
		}
		holdDetails(t, err)
	}
	only(t, w.outside, "f")
}

// TestOutputFollowsNoLinkThatCameLater is the gap between the check and the use: an
// agent puts a link in the output's place, or in its directory's.
func TestOutputFollowsNoLinkThatCameLater(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	o, err := b.Output("sub/new")
	must(t, err)
	link(t, filepath.Join(w.outside, "f"), filepath.Join(w.project, "sub", "new"))
	if err := o.Write(strings.NewReader("x")); errs.CodeOf(err) != errs.SpawnOutputUnsafe {
		t.Errorf("a link: %v", err)
	}
	must(t, os.Remove(filepath.Join(w.project, "sub", "new")))
	if runtime.GOOS == "windows" {
		t.Skip("an open directory cannot be renamed here")
	}
	must(t, os.Rename(filepath.Join(w.project, "sub"), filepath.Join(w.project, "moved")))
	link(t, w.outside, filepath.Join(w.project, "sub"))
	must(t, o.Write(strings.NewReader("x")))
	if got := content(t, filepath.Join(w.project, "moved", "new")); got != "x" {
		t.Errorf("it holds %q", got)
	}
	only(t, w.outside, "f")
	if got := content(t, filepath.Join(w.outside, "f")); got != "elsewhere" {
		t.Errorf("elsewhere holds %q", got)
	}
}

// TestAFailedOutputLeavesNothing: the content ends with an error, or the directory is
// gone.
func TestAFailedOutputLeavesNothing(t *testing.T) {
	w := newWorld(t)
	b := w.open(t)
	broken := errors.New("broken")
	for _, name := range []string{"f", "new"} {
		o, err := b.Output(name)
		must(t, err)
		err = o.Write(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
		if errs.CodeOf(err) != errs.SpawnOutputUnwritable || !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	only(t, w.project, "f", "sub")
	if got := content(t, filepath.Join(w.project, "f")); got != "project" {
		t.Errorf("it holds %q", got)
	}
	if runtime.GOOS == "windows" {
		t.Skip("an open directory cannot be removed here")
	}
	o, err := b.Output("sub/new")
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(w.project, "sub")))
	if err := o.Write(strings.NewReader("x")); errs.CodeOf(err) != errs.SpawnOutputUnwritable {
		t.Errorf("no directory: %v", err)
	}
	only(t, w.project, "f")
}
