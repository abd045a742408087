package render

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/doccheck"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// listed returns findings with short and long, narrow and wide fields.
func listed() []finding.Finding {
	at := func(file string, line int) (*string, *int) { return &file, &line }
	all := []finding.Finding{
		{Route: "plan-checker", Severity: finding.Fail, Category: "locked-decision-violation", ConfirmedBy: []string{"critic"},
			Remediation: "The decision to store amounts in cents is locked in ADR-0007; either keep to it, or ask for a new plan."},
		{Route: "executor", Severity: finding.Fail, Category: "lint-violation", ConfirmedBy: []string{"golangci-lint", "Staticcheck"}, SinceRound: 1, Reopened: 1, Standing: "reopened", Induced: new(true),
			Remediation: "errcheck: Error return value of `(*os.File).Close` is not checked"},
		{Route: "executor", Severity: finding.Risk, Category: "missing-test", ConfirmedBy: []string{"critic"}, Remediation: "空のリストのテストがありません。境界値を追加してください 🙂 e\u0301"},
		{Route: "stuck", UnknownCategory: true, Severity: finding.Fail, Category: "日本語", ConfirmedBy: []string{"critic"}, Remediation: strings.Repeat("x", 90)},
		{Route: "executor", Severity: finding.Nit, Category: "style", ConfirmedBy: []string{"critic"}},
	}
	all[1].File, all[1].Line = at("internal/service/webhooks/delivery/retry_test.go", 1234)
	all[2].File, all[2].Line = at("src/日本語/一覧.go", 7)
	all[3].File, all[3].Line = at("a.go", 1)
	all[4].File, all[4].Line = at(strings.Repeat("very/", 30)+"deep.go", 5)
	return all
}

// TestFindingsAtEachWidth compares the table of findings on terminals of several
// widths, and without a terminal, with golden files. UPDATE=1 rewrites them.
func TestFindingsAtEachWidth(t *testing.T) {
	for _, width := range []int{0, 60, 80, 120, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			var b bytes.Buffer
			p := &Printer{w: &b, width: width}
			p.findings(listed(), nil)
			p.Line("")
			p.findings(listed()[1:3], nil)
			for line := range strings.Lines(b.String()) {
				if n := columns(strings.TrimRight(line, "\n")); width > 0 && n > width {
					t.Errorf("a line has %d columns: %s", n, line)
				}
			}
			doccheck.Page(t, filepath.Join("testdata", "findings", fmt.Sprintf("%d.txt", width)), b.String())
		})
	}
}

// TestLongWordGoesBelowItsRow checks that a word, such as the id of a run that the reader copies,
// is split only if no line has room for it.
func TestLongWordGoesBelowItsRow(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{w: &b, width: 60}
	rows := newTable("AGENT", "RUN")
	rows.add(strings.Repeat("a", 30), "run-a6pzmevqy4ekxv4sdd2ixlbx3l")
	rows.add("b", strings.Repeat("c", 70))
	p.table(rows)
	want := "AGENT" + strings.Repeat(" ", 27) + "RUN\n" +
		strings.Repeat("a", 30) + "\n" + below + "run-a6pzmevqy4ekxv4sdd2ixlbx3l\n" +
		"b" + strings.Repeat(" ", 31) + strings.Repeat("c", 28) + "\n" +
		strings.Repeat(" ", 32) + strings.Repeat("c", 28) + "\n" + strings.Repeat(" ", 32) + strings.Repeat("c", 14) + "\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ｱ": 1, "Ａ": 2, "🙂": 2, "한": 2, "\u1112\u1161\u11ab": 2, "…": 1, "ع": 1} {
		if got := columns(text); got != want {
			t.Errorf("%q has %d columns, want %d", text, got, want)
		}
	}
}

// TestCutsFit tests that cut and wrapped texts fit, and that wrapping loses nothing.
func TestCutsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := textutil.Line(rapid.StringOf(rapid.SampledFrom([]rune("ab  /漢🙂e\u0301"))).Draw(t, "text"))
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		for name, cut := range map[string]string{"fit": Fit(text, limit), "fitMiddle": fitMiddle(text, limit)} {
			if columns(cut) > limit || !utf8.ValidString(cut) || columns(text) <= limit && cut != text {
				t.Fatalf("%s(%q, %d) = %q", name, text, limit, cut)
			}
		}
		lines := wrap(text, limit+1)
		for _, line := range lines {
			if columns(line) > limit+1 {
				t.Fatalf("wrap(%q, %d) = %q", text, limit+1, lines)
			}
		}
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Fatalf("wrap(%q, %d) lost something: %q", text, limit+1, lines)
		}
	})
}
