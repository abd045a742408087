package findingformat_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/findingformat"
)

// found returns a finding with its fingerprint. file is "" and line 0 for none.
func found(category string, severity finding.Severity, file string, line int, remediation string) finding.Finding {
	f := finding.Finding{Category: category, Severity: severity, Remediation: remediation}
	if file != "" {
		f.File = &file
	}
	if line != 0 {
		f.Line = &line
	}
	f.Fingerprint = finding.Fingerprint(f.Category, f.File, f.Line, f.Remediation)
	return f
}

func write(t rapid.TB, format string, r findingformat.Review) string {
	t.Helper()
	var b bytes.Buffer
	if err := findingformat.Find(format)(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func review(findings ...finding.Finding) findingformat.Review {
	return findingformat.Review{Version: "v1.2.3", TaskID: "T-1", Round: 2, Bar: "risk", Findings: findings}
}

func TestHiddenCharactersAreEscaped(t *testing.T) {
	hidden := found("style\u202e", "fail", "a\x1b[2J\u200b.go", 1, "one\rtwo\u202ethree\x00\xff")
	for _, format := range findingformat.Names() {
		out := write(t, format, review(hidden))
		for _, bad := range []string{"\u202e", "\u200b", "\x1b", "\r", "\x00", "\xff"} {
			if strings.Contains(out, bad) {
				t.Errorf("%s has %q: %q", format, bad, out)
			}
		}
		if out != write(t, format, review(hidden)) {
			t.Errorf("%s differs the second time", format)
		}
	}
}

// TestManyFindings tests that each format has all of many findings, except for a comment,
// which says how many it leaves out.
func TestManyFindings(t *testing.T) {
	const many = 30_000
	all := make([]finding.Finding, many)
	for i := range all {
		all[i] = found("style", "risk", fmt.Sprintf("a%d.go", i), i+1, fmt.Sprintf("Rename %d", i))
	}
	for format, mark := range map[string]string{"sarif": `"ruleId"`, "rdjsonl": "\n", "github": "\n", "junit": "<testcase "} {
		if got := strings.Count(write(t, format, review(all...)), mark); got != many {
			t.Errorf("%s has %d findings", format, got)
		}
	}
	out := write(t, "markdown", review(all...))
	shown := strings.Count(out, "| `risk` |")
	if len(out) > 65536 || len(out) < 65000 || !strings.Contains(out, fmt.Sprintf("\n%d findings more: the comment would be too long.\n", many-shown)) {
		t.Errorf("%d bytes with %d findings, which end with %q", len(out), shown, out[len(out)-80:])
	}
}
