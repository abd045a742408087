package findingformat_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/findingformat"
)

func TestGitHub(t *testing.T) {
	got := write(t, "github", review(
		found("todo:marker,x", "fail", "a,b:c%.go", 42, "100% of\r\nit::error::x"),
		found("style", "risk", "b.go", 0, "Rename it"),
		found("unmet-criterion", "nit", "-", 0, "Test it"),
		found("style", "grave", "", 0, "Rename it"),
	))
	want := "::error file=a%2Cb%3Ac%25.go,line=42,title=todo%3Amarker%2Cx::100%25 of %0Ait::error::x\n" +
		"::warning file=b.go,title=style::Rename it\n" +
		"::notice title=unmet-criterion::Test it\n" +
		"::error title=style::Rename it\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := write(t, "github", review()); got != "" {
		t.Errorf("a clean review is %q", got)
	}
	if got := write(t, "github", findingformat.Review{TaskID: "T-1"}); got != "::warning title=switchyard::T-1 has no review\n" {
		t.Errorf("no review is %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	got := write(t, "markdown", review(
		found("style", "risk", "b.go", 3, "Rename `it` | for @ann\nsee https://example.com"),
		found("unmet-criterion", "fail", "-", 0, `\|<b>`),
	))
	want := "**2 findings** open, `T-1`, review of round 2, bar `risk`\n\n| severity | category | where | to do |\n|---|---|---|---|\n" +
		"| `risk` | `style` | `b.go:3` | `` Rename `it`  ``&#124;` for @ann see https://example.com` |\n" +
		"| `fail` | `unmet-criterion` | `-` | `\\`&#124;`<b>` |\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := write(t, "markdown", findingformat.Review{TaskID: "T-1"}); got != "**not reviewed**: `T-1`\n" {
		t.Errorf("no review is %q", got)
	}
	if got := write(t, "markdown", findingformat.Review{Round: 1}); got != "**0 findings** open, review of round 1\n" {
		t.Errorf("a clean review is %q", got)
	}
	if got := write(t, "markdown", findingformat.Review{Round: 1, Deferred: true}); got != "**0 findings** deferred, review of round 1\n" {
		t.Errorf("nothing deferred is %q", got)
	}
}

// TestMarkdownIsNotInjected tests that texts stay in the code of their cell.
func TestMarkdownIsNotInjected(t *testing.T) {
	code := regexp.MustCompile("`+")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("`|\\ \n@a<!-[](:/"))).Draw(t, "text")
		out := write(t, "markdown", review(found("style", "fail", text, 1, text)))
		row := strings.TrimSuffix(out[strings.Index(out, "|---|")+len("|---|---|---|---|\n"):], "\n")
		if strings.Contains(row, "\n") || strings.Count(row, "|") != 5 {
			t.Fatalf("%q makes a row of other cells: %q", text, row)
		}
		// Of a row without its code, as CommonMark finds it, only the frame is left.
		rest := ""
		for row != "" {
			open := code.FindStringIndex(row)
			if open == nil {
				rest += row
				break
			}
			rest += row[:open[0]]
			fence := row[open[0]:open[1]]
			row = row[open[1]:]
			closed := false
			for at, end := 0, 0; ; at = end {
				next := code.FindStringIndex(row[at:])
				if next == nil {
					break
				}
				end = at + next[1]
				if next[1]-next[0] == len(fence) {
					row, closed = row[end:], true
					break
				}
			}
			if !closed {
				t.Fatalf("%q leaves code open", text)
			}
		}
		if left := strings.Trim(strings.ReplaceAll(rest, "&#124;", ""), "| "); left != "" {
			t.Fatalf("%q leaves %q outside of code", text, left)
		}
	})
}

// TestMarkdownIsShort tests the bound with the longest texts.
func TestMarkdownIsShort(t *testing.T) {
	r := review()
	for i := range 200 {
		long := strings.Repeat("ü|`", 100_000)
		r.Findings = append(r.Findings, found(long, "fail", fmt.Sprintf("%d%s", i, long), 1, long))
	}
	if out := write(t, "markdown", r); len(out) > 65536 || !strings.Contains(out, "findings more") {
		t.Errorf("%d bytes: %.200s", len(out), out)
	}
}
