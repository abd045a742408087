package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func TestModules(t *testing.T) {
	outside := tree(t, "out.wasm", "more/x.wasm")
	root := tree(t, ".git/", "b.wasm", "a.wasm", "notes", "sub/deep/c.wasm", "sub/notes", "empty/", "odd/d.wasm/")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	p := project.Project{Root: root, Dir: filepath.Join(root, "sub")}
	join := filepath.Join
	for path, want := range map[string][]string{
		"../a.wasm":   {"../a.wasm"}, // as named
		"../notes":    {"../notes"},  // whatever its suffix
		"..":          {"../a.wasm", "../b.wasm"},
		"deep":        {"deep/c.wasm"},
		"./deep/":     {"deep/c.wasm"},
		root:          {join(root, "a.wasm"), join(root, "b.wasm")},
		outside:       {join(outside, "out.wasm")},
		"../odd":      {"../odd/d.wasm"}, // reading it fails
		outside + "/": {join(outside, "out.wasm")},
	} {
		if got, err := p.Modules(t.Context(), path); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", path, got, err, want)
		}
	}
	for path, want := range map[string]errs.Code{
		"none": errs.FileNotFound, "../empty": errs.FileNotFound, ".": errs.FileNotFound,
		"../link": errs.PathEscapesProject, "../link/more": errs.PathEscapesProject, "../a.wasm/x": errs.FileUnreadable,
		"a\x00": errs.FileUnreadable,
	} {
		if got, err := p.Modules(t.Context(), path); errs.CodeOf(err) != want {
			t.Errorf("%s: got %v, %v, want %s", path, got, err, want)
		}
	}
}

func TestModulesAreNotTooMany(t *testing.T) {
	p := project.Project{Root: t.TempDir()}
	for i := range 257 {
		if err := os.WriteFile(filepath.Join(p.Root, fmt.Sprint(i, ".wasm")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.Modules(t.Context(), p.Root); errs.CodeOf(err) != errs.FileTooLarge {
		t.Errorf("got %d, %v", len(got), err)
	}
}

func TestExistsAndFolder(t *testing.T) {
	outside := tree(t, "file", "folder/x")
	root := tree(t, ".git/", "file", "folder/x")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	p := project.Project{Root: root, Dir: root}
	for path, want := range map[string]bool{
		"file": true, "folder": true, "folder/x": true, "none": false, "file/x": false, "link": false, "link/file": false,
		outside: true, filepath.Join(outside, "none"): false, "file\x00": false,
	} {
		if got := p.Exists(path); got != want {
			t.Errorf("Exists %q: %v", path, got)
		}
	}
	for path, want := range map[string]errs.Code{
		"folder": "", outside: "", ".": "", "none": errs.FileNotFound, "file": errs.FileUnreadable,
		"link": errs.PathEscapesProject, filepath.Join(outside, "file"): errs.FileUnreadable,
	} {
		got, err := p.Folder(path)
		if errs.CodeOf(err) != want || err == nil && got != p.Abs(path) {
			t.Errorf("Folder %q: %q, %v, want %s", path, got, err, want)
		}
	}
}
