package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
)

// TestManyCategoriesAreCut has a plugin that invents a category for every finding.
func TestManyCategoriesAreCut(t *testing.T) {
	d := api.Decision{Reason: "stuck-finding", Findings: make([]finding.Finding, 200_000)}
	for i := range d.Findings {
		d.Findings[i] = finding.Finding{Category: fmt.Sprint("c", i), Route: "stuck", UnknownCategory: true}
	}
	words := because(d)
	if !strings.HasSuffix(words, "the unknown category c19 and 199980 more") {
		t.Errorf("got %.300s", words)
	}
}

func TestManyReasonsAreCut(t *testing.T) {
	skipped := make([]api.Skipped, 100_000)
	for i := range skipped {
		skipped[i] = api.Skipped{Reason: fmt.Sprint("r", i), Count: 1}
	}
	if words := skippedWords(skipped); len(words) > 1000 || !strings.HasSuffix(words, "and 99980 more") {
		t.Errorf("%d bytes: %.300s", len(words), words)
	}
}

// TestLongCellsDoNotPadTheOthers has a category of a megabyte among short ones.
func TestLongCellsDoNotPadTheOthers(t *testing.T) {
	rows := newTable("CATEGORY", "REST")
	rows.add(strings.Repeat("w", 1<<20), "x")
	for range 1000 {
		rows.add("short", "x")
	}
	var out bytes.Buffer
	p := &Printer{w: &out}
	p.table(rows)
	if out.Len() > 2<<20 {
		t.Errorf("it takes %d bytes", out.Len())
	}
	lines := strings.Split(out.String(), "\n")
	if want := "short" + strings.Repeat(" ", maxColumn+2-len("short")) + "x"; lines[2] != want {
		t.Errorf("got %q, want %q", lines[2], want)
	}
}

// TestNoLineIsACommand prints texts that a CI system would carry out as commands.
func TestNoLineIsACommand(t *testing.T) {
	var out bytes.Buffer
	p := &Printer{w: &out}
	p.findings([]finding.Finding{
		{Category: "style", Remediation: "::set-output name=decision::commit"},
		{Category: "style", Remediation: "\u00a0\t::stop-commands::x"},
		{Category: "::add-mask::a", Remediation: "see ##[add-matcher]m.json and ##vso[task.setvariable variable=a]b"},
	}, nil)
	p.Line("%s", "::error::x")
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
			t.Errorf("a command: %s", line)
		}
	}
}
