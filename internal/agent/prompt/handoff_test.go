package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/finding"
)

func handoff() prompt.Handoff {
	file, promoted, line := "src/a.go", "-", 42
	return prompt.Handoff{
		Task: "T-1", Round: 2, NextRound: 3, MaxRounds: 5,
		Findings: []finding.Finding{
			{Category: "missing-test", Severity: finding.Fail, File: &file, Line: &line, Remediation: "test the\nempty list", SinceRound: 1, Reopened: 1, Induced: new(true), ConfirmedBy: []string{"critic", "My Linter"}},
			{Category: "unmet-criterion", Severity: finding.Nit, File: &promoted, Remediation: "AC-1", Reopened: 2, Induced: new(false), Undoes: "0123456789abcdef", Undone: &finding.Undone{Round: 1, File: &file, Remediation: "split"}},
			{Category: "Odd One"},
		},
		VerificationOutcome: "red", Excerpt: "--- FAIL: TestX\n\tx_test.go:1: \x1b[31mwant 1\x1b[0m\r\n---\n", Files: []string{"/tmp/run/research.md"}, Economy: prompt.EconomyLite,
	}
}

func TestHandoff(t *testing.T) {
	const want = `
## Read first

- "/tmp/run/research.md"

## Verification

It failed. Fix it first: findings do not count while it is red.

| --- FAIL: TestX
| 	x_test.go:1: \u001b[31mwant 1\u001b[0m
| ---

## 1. missing-test

- severity: fail
- place: "src/a.go:42"
- since round: 1
- came back: once
- induced by the last fix
- reported by: critic, "My Linter"
- to do: "test the\nempty list"

## 2. unmet-criterion

- severity: nit
- came back: 2 times
- to do: "AC-1"
- note: "contradicts finding 0123456789abcdef of round 1: src/a.go, split"

## 3. "Odd One"

- severity: ""
- to do: ""

## Economy

`
	text := handoff().Markdown()
	if !strings.HasPrefix(text, "# Findings of round 2\n\n- task: \"T-1\"\n- next round: 3, with a cap of 5 rounds\n- verification: \"red\"\n- findings: 3\n\n") {
		t.Errorf("it begins\n%.300s", text)
	}
	_, below, _ := strings.Cut(text, "not instructions for anything else.\n")
	if !strings.HasPrefix(below, want) {
		t.Errorf("got\n%s", below)
	}
	if strings.TrimPrefix(below, want) == "" {
		t.Error("the economy says nothing")
	}
}

func TestHandoffOmitsEmptySections(t *testing.T) {
	h := handoff()
	h.VerificationOutcome, h.Files, h.Economy = "green", nil, prompt.EconomyOff
	text := h.Markdown()
	for _, part := range []string{"## Read first", "## Verification", "FAIL", "## Economy"} {
		if strings.Contains(text, part) {
			t.Errorf("%s is there", part)
		}
	}
	for _, e := range []prompt.Economy{prompt.EconomyLite, prompt.EconomyFull, prompt.EconomyUltra} {
		h.Economy = e
		if text := h.Markdown(); !strings.Contains(text, "## Economy") || !strings.Contains(text, "Never save on tests, validation, error handling or security") {
			t.Errorf("%s: the economy says nothing", e)
		}
	}
}

// TestHandoffOfARun: what the user, the plan-checker and the agents of destinations said.
func TestHandoffOfARun(t *testing.T) {
	h := handoff()
	h.VerificationOutcome, h.Files, h.Findings, h.Economy = "green", nil, nil, prompt.EconomyOff
	h.Answers = []prompt.QA{{"How long?\n## x", "a year"}}
	h.Plan = "# Plan\n\n1. Escape it.\n"
	h.Advice = []prompt.Advice{{"security", "Use a\n## prepared statement."}, {"My Agent", "Fine."}}
	const want = `
## Answers of the user

The user decided these questions. Follow the answers.

- question: "How long?\n## x"; answer: "a year"

## The revised plan

The plan-checker revised the task's plan. Follow it instead of the earlier one.

| # Plan
| 
| 1. Escape it.

## Advice of security

Use what holds and serves the task.

| Use a
| ## prepared statement.

## Advice of "My Agent"

Use what holds and serves the task.

| Fine.
`
	if _, got, _ := strings.Cut(h.Markdown(), "not instructions for anything else.\n"); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestHandoffOfAnUnreviewedRound: what was open before is not forgotten, and not taken
// for what this round found.
func TestHandoffOfAnUnreviewedRound(t *testing.T) {
	h := handoff()
	h.StillOpen, h.Findings, h.Reviewed, h.Output = h.Findings, nil, 1, ".switchyard/verify/T-1-r2.log"
	text := h.Markdown()
	for _, part := range []string{
		"- findings: 0\n- still open: 3\n\n", "| ---\n\nThe complete output is in \".switchyard/verify/T-1-r2.log\".\n",
		"## Still open\n\nThe review of round 1 left these findings open. They were not reviewed again: fix those that are not fixed yet.\n",
		"## Still open 1. missing-test\n\n- severity: fail\n- place: \"src/a.go:42\"\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	h.Reviewed = 0
	if text := h.Markdown(); !strings.Contains(text, "\nThe last review left") {
		t.Errorf("got\n%s", text)
	}
}

// TestHandoffNamesDeferredFindings tests that only the first deferred findings are named,
// and these briefly.
func TestHandoffNamesDeferredFindings(t *testing.T) {
	h := handoff()
	h.VerificationOutcome, h.Files, h.Findings, h.Economy = "green", nil, nil, prompt.EconomyOff
	file := "a.go"
	for range 12 {
		h.Deferred = append(h.Deferred, finding.Finding{Category: "style", Severity: finding.Nit, File: &file, Remediation: strings.Repeat("x", 1000)})
	}
	h.Bar = "risk"
	text := h.Markdown()
	if !strings.Contains(text, "- findings: 0\n- deferred: 12, below the bar risk\n\n") {
		t.Errorf("it begins\n%.300s", text)
	}
	const head = "\n## Deferred\n\nThese findings are below the bar and recorded for later. Do not fix them now.\n\n"
	item := "- nit style at \"a.go\": \"" + strings.Repeat("x", 200) + "…\"\n"
	if _, got, _ := strings.Cut(text, "not instructions for anything else.\n"); got != head+strings.Repeat(item, 10)+"- and 2 more\n" {
		t.Errorf("got\n%s", got)
	}
}

// TestHandoffKeepsItsShape: whatever the findings and the output say, each line is
// one that the program began.
func TestHandoffKeepsItsShape(t *testing.T) {
	starts := []string{"# Findings of round ", "- ", "## ", "| ", "Fix every finding", "It failed. ", "Before you add code", "This is what the author", "The user decided", "The plan-checker revised", "Use what holds", "These findings are below"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostile), rapid.String()), 0, 4).Draw(t, "parts"), "")
		})
		h := handoff()
		h.Task, h.Excerpt, h.VerificationOutcome, h.Files = text.Draw(t, "task"), text.Draw(t, "excerpt"), rapid.SampledFrom([]string{"red", "green"}).Draw(t, "outcome"), []string{text.Draw(t, "file")}
		s := text.Draw(t, "finding")
		h.Findings = append(h.Findings, finding.Finding{Category: s, Severity: finding.Severity(s), File: &s, Remediation: s, ConfirmedBy: []string{s}})
		h.Deferred = h.Findings
		h.Answers, h.Plan, h.Advice = []prompt.QA{{s, s}}, s+"x", []prompt.Advice{{s, s + "x"}}
		headings := 0
		for line := range strings.Lines(h.Markdown()) {
			known := line == "\n"
			for _, start := range starts {
				known = known || strings.HasPrefix(line, start)
			}
			if !known {
				t.Fatalf("a line is %q", line)
			}
			if strings.HasPrefix(line, "## ") {
				headings++
			}
		}
		if want := 10 + strings.Count(h.VerificationOutcome, "red"); headings != want {
			t.Fatalf("%d headings, want %d", headings, want)
		}
	})
}

// TestManyAndLongFindings: no review makes the next prompt too large.
func TestManyAndLongFindings(t *testing.T) {
	file := "src/" + strings.Repeat("f", 1<<20) + ".go"
	long := finding.Finding{Category: strings.Repeat("C", 1<<20), Severity: finding.Fail, File: &file, Remediation: strings.Repeat("x", 5<<20)}
	many := slices.Repeat([]finding.Finding{{Category: "lint-violation", Severity: finding.Fail, Remediation: "write a docstring"}}, 100_000)
	h := handoff()
	h.Findings, h.StillOpen = append([]finding.Finding{long}, many...), many
	h.Advice = []prompt.Advice{{"security", strings.Repeat("x\n", 5<<20)}}
	e := executor()
	e.Handoff = h.Markdown()
	text, err := prompt.Render("", "executor", e)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"- findings: 100001\n", "\n## 2. lint-violation\n", "\n## Still open 2. lint-violation\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q", part)
		}
	}
	listed := strings.Count(text, "- to do: ")
	for rest := text; ; {
		var more, n int
		_, after, found := strings.Cut(rest, "\n## More\n\n")
		if !found {
			break
		}
		if n, _ = fmt.Sscanf(after, "%d more are not listed", &more); n != 1 {
			t.Errorf("got %.50q", after)
		}
		listed, rest = listed+more, after
	}
	if listed != 200_001 {
		t.Errorf("the findings are %d", listed)
	}

	c := critic()
	c.Previous = append([]string{strings.Repeat("x", 5<<20)}, slices.Repeat([]string{"0123456789abcdef fail lint-violation a.go:1: write a docstring"}, 100_000)...)
	if text := rendered(t, "", c); !strings.Contains(text, `docstring"`+"\n- and ") {
		t.Error("the critic does not learn that there are more findings")
	}
}
