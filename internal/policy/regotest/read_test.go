package regotest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/regotest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadTakesTestsAlone(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"routing.rego": "package a", "routing_test.rego": "package b", "deep/more_test.rego": "package c", "notes_test.md": "none",
	})
	tests, err := regotest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []routing.Source{{Name: "deep/more_test.rego", Text: "package c"}, {Name: "routing_test.rego", Text: "package b"}}
	if len(tests) != len(want) || tests[0] != want[0] || tests[1] != want[1] {
		t.Errorf("got %v, want %v", tests, want)
	}
}

func TestReadRefusesWhatPoliciesMayNotBe(t *testing.T) {
	large := strings.Repeat("#", routing.MaxModuleBytes-1)
	linked := folderOf(t, nil)
	if err := os.Symlink(folderOf(t, map[string]string{"x_test.rego": ""})+"/x_test.rego", filepath.Join(linked, "y_test.rego")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for name, c := range map[string]struct {
		dir  string
		code errs.Code
	}{
		"nothing there":  {filepath.Join(linked, "nowhere"), errs.PolicyUnreadable},
		"a link outside": {linked, errs.PolicyUnreadable},
		"a folder":       {folderOf(t, map[string]string{"a_test.rego/b": ""}), ""},
		"too much":       {folderOf(t, map[string]string{"a_test.rego": large, "b_test.rego": "##"}), errs.PolicyInvalid},
		"just enough":    {folderOf(t, map[string]string{"a_test.rego": large, "b_test.rego": "#"}), ""},
	} {
		if _, err := regotest.Read(c.dir); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}
