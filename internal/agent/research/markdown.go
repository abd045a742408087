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
	var p page
	p.title("Research for %s, round %d", line(task), round)
	p.text("Question: %s", orNone(question))
	p.text("%s, agreement %.3f, %s without a majority.",
		textutil.Count(c.Meta.K, "researcher"), c.Meta.AgreementScore, textutil.Count(c.Meta.FlaggedCount, "decision"))

	p.section("Decisions")
	for _, d := range c.Decisions {
		p.decision(d, c.Meta.K)
	}
	p.section("Decisions without a majority")
	for _, d := range c.Flagged {
		p.decision(d, c.Meta.K)
	}
	p.section("Risks")
	for _, r := range c.Risks {
		p.item("%s%s", levelPrefix(r.Severity), line(r.Text))
	}
	p.section("Open questions")
	for _, q := range c.Questions {
		p.item("%s", line(q.Text))
	}
	p.section("Patterns")
	for _, s := range c.Patterns {
		p.item("%s %s", s.Provenance, line(s.Text))
	}
	p.section("Patterns that only one saw")
	for _, s := range c.Demoted {
		p.item("%s %s", s.Provenance, line(s.Text))
	}
	p.section("Sources")
	for _, s := range c.Sources {
		p.item("%s%s", levelPrefix(s.Credibility), line(s.Title+" "+s.URL))
	}
	p.section("Researchers who failed")
	for _, s := range c.Silent {
		p.item("%d: %s", s.Index, orNone(s.Failure))
	}
	return p.String()
}

// page builds a page. An empty section has the text None, since a missing section could be
// taken for an omission.
type page struct {
	b     strings.Builder
	empty bool // the current section
}

func (p *page) title(format string, args ...any) { fmt.Fprintf(&p.b, "# "+format+"\n", args...) }

func (p *page) text(format string, args ...any) { fmt.Fprintf(&p.b, "\n"+format+"\n", args...) }

func (p *page) section(title string) {
	p.end()
	p.b.WriteString("\n## " + title + "\n\n")
	p.empty = true
}

func (p *page) item(format string, args ...any) {
	fmt.Fprintf(&p.b, "- "+format+"\n", args...)
	p.empty = false
}

func (p *page) decision(d Decision, k int) {
	confidence := ""
	if d.Confidence != nil {
		confidence = ", confidence " + strconv.FormatFloat(*d.Confidence, 'f', -1, 64)
	}
	p.item("%s %s (%d of %d%s)", d.Provenance, line(d.Text), d.Agreement, k, confidence)
}

func (p *page) end() {
	if p.empty {
		p.b.WriteString("None.\n")
		p.empty = false
	}
}

// String ends the page and returns it.
func (p *page) String() string {
	p.end()
	return p.b.String()
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
