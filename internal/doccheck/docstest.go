// Package doccheck lets tests compare pages of the documentation with the program.
package doccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Table checks that the part of a page between <!-- name --> and <!-- /name --> is want,
// the output of the program. docs is the path of the directory of pages. With UPDATE=1 in the
// environment it rewrites the page.
func Table(t *testing.T, docs, page, name, want string) {
	t.Helper()
	from, to := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	path := filepath.Join(docs, page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table between %q and %q", page, from, to)
	}
	Page(t, path, head+from+want+to+tail)
}

// Page checks that a whole page is want, the output of the program. With UPDATE=1 in the
// environment it rewrites the page.
func Page(t *testing.T, path, want string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run this test with UPDATE=1", filepath.Base(path))
	}
}
