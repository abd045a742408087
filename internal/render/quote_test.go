package render

import (
	"path/filepath"
	"testing"
)

func TestShellQuote(t *testing.T) {
	backslash := `'a\b'` // A shell on Linux would read a\b as ab.
	if filepath.Separator == '\\' {
		backslash = `a\b`
	}
	for path, want := range map[string]string{
		"plugins/my-linter": "plugins/my-linter", "a b": "'a b'", "it's": `'it'\''s'`, "~": "'~'", "é": "'é'", `a\b`: backslash,
	} {
		if got := ShellQuote(path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}
