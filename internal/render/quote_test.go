package render

import (
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
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

// TestVerificationInTheNextStep checks that the next step of a run never names another command than
// its verification: in one line, a comment would end it.
func TestVerificationInTheNextStep(t *testing.T) {
	for command, want := range map[string]string{
		"make test":              "'make test'",
		"make":                   "make",
		"# quickly\nmake test":   "CMD",
		"grep '\u202e' file":     "CMD",
		"printf '\x1b[2J'; make": "CMD",
		"echo é && make":         "'echo é && make'",
	} {
		if got := afterRun(api.RunResult{TaskID: "T", NextAction: api.ActionFailed, Verify: command}).now; got != "switchyard run T --verify-cmd "+want {
			t.Errorf("%q: the next step is %q", command, got)
		}
	}
}
