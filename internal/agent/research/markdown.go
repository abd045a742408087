package research

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Markdown renders the consensus for the next agent. Every entry is one line.
func (c Consensus) Markdown(task string, round int, question string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Research for %s, round %d\n", line(task), round)
	fmt.Fprintf(&b, "\nQuestion: %s\n", orNone(question))
	fmt.Fprintf(&b, "\n%s, agreement %.3f, %s without a majority.\n",
		textutil.Count(c.Meta.K, "researcher"), c.Meta.AgreementScore, textutil.Count(c.Meta.FlaggedCount, "decision"))

	decision := func(d Decision) string {
		confidence := ""
		if d.Confidence != nil {
			confidence = ", confidence " + strconv.FormatFloat(*d.Confidence, 'f', -1, 64)
		}
		return fmt.Sprintf("%s %s (%d of %d%s)", d.Provenance, line(d.Text), d.Agreement, c.Meta.K, confidence)
	}
	pattern := func(p Pattern) string { return string(p.Provenance) + " " + line(p.Text) }
	writeSection(&b, "Decisions", c.Decisions, decision)
	writeSection(&b, "Decisions without a majority", c.Flagged, decision)
	writeSection(&b, "Risks", c.Risks, func(r Risk) string { return levelPrefix(r.Severity) + line(r.Text) })
	writeSection(&b, "Open questions", c.Questions, func(q Question) string { return line(q.Text) })
	writeSection(&b, "Patterns", c.Patterns, pattern)
	writeSection(&b, "Patterns that only one saw", c.Demoted, pattern)
	writeSection(&b, "Sources", c.Sources, func(s Source) string { return levelPrefix(s.Credibility) + line(s.Title+" "+s.URL) })
	writeSection(&b, "Researchers who failed", c.Silent, func(s Silence) string { return fmt.Sprintf("%d: %s", s.Index, orNone(s.Failure)) })
	return b.String()
}

// writeSection writes a section with a line for each entry. Without entries it has the text None,
// since a missing section could be taken for an omission.
func writeSection[T any](b *strings.Builder, title string, entries []T, text func(T) string) {
	b.WriteString("\n## " + title + "\n\n")
	for _, e := range entries {
		b.WriteString("- " + text(e) + "\n")
	}
	if len(entries) == 0 {
		b.WriteString("None.\n")
	}
}

// line converts a text to one line, so that it cannot end its entry and begin a section.
func line(text string) string {
	return strings.Join(strings.Fields(textutil.Line(text)), " ")
}

func orNone(text string) string { return cmp.Or(line(text), "none given") }

func levelPrefix(l Level) string {
	if l == "" {
		return ""
	}
	return string(l) + ": "
}
