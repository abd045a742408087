package diff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Markdown formats the difference as tables for a decision record. It ends with a
// newline.
func (d Diff) Markdown() string {
	var m markdown
	if d.From == nil {
		m.line("`%s` is the first version.", d.To.String())
	} else {
		m.line("From `%s` to `%s`:", d.From.String(), d.To.String())
	}
	d.Categories.markdown(&m, d.From == nil)
	d.Destinations.markdown(&m)
	d.Precedence.markdown(&m)
	if d.From != nil {
		d.Decisions.markdown(&m)
		d.Bars.barMarkdown(&m)
	}
	if d.Empty() {
		m.line("Nothing changes in meaning.")
	}
	if d.open() {
		var places []string
		for _, g := range d.Gaps {
			places = append(places, placeOf(g))
		}
		m.line("Not all inputs could be compared: the rules use the input in a way that cannot be bounded, in %s.", codes(places, ", "))
	}
	return m.text.String()
}

func (c Categories) markdown(m *markdown, first bool) {
	if !c.changed() {
		return
	}
	unknown := "unknown, so `" + routing.Stuck + "`"
	if first {
		unknown = "-"
	}
	m.table("Category", "Before", "Now")
	for _, r := range c.Added {
		m.row(code(r.Category), unknown, code(r.Destination))
	}
	for _, r := range c.Removed {
		m.row(code(r.Category), code(r.Destination), "unknown, so `"+routing.Stuck+"`")
	}
	for _, r := range c.Rerouted {
		m.row(code(r.Category), code(r.From), code(r.To))
	}
}

func (d Destinations) markdown(m *markdown) {
	if !d.changed() {
		return
	}
	m.table("Destination", "Before", "Now")
	for _, a := range d.Added {
		m.row(code(a.Name), "-", declaration(a.Destination))
	}
	for _, r := range d.Removed {
		m.row(code(r.Name), declaration(r.Destination), "-")
	}
	for _, c := range d.Changed {
		m.row(code(c.Name), declaration(c.From), declaration(c.To))
	}
}

func (p *Precedence) markdown(m *markdown) {
	if p == nil {
		return
	}
	m.table("Precedence", "Strongest first")
	if len(p.From) > 0 {
		m.row("Before", codes(p.From, " > "))
	}
	m.row("Now", codes(p.To, " > "))
}

func (d Decisions) markdown(m *markdown) {
	if len(d.Changed)+len(d.Reasons) == 0 {
		m.line("All %d kinds of input are decided as before, and for the same reasons.", d.States)
		return
	}
	m.line("Of %d kinds of input, %d go elsewhere than before, and %d go where they went for another reason:",
		d.States, countCells(d.Changed), countCells(d.Reasons))
	m.table("Before", "Now", "Kinds", "The smallest")
	for _, c := range slices.Concat(d.Changed, d.Reasons) {
		m.row(code(c.From)+" ("+code(c.FromReason)+")", code(c.To)+" ("+code(c.ToReason)+")", fmt.Sprint(c.Cells), c.situation())
	}
}

func (d *Decisions) barMarkdown(m *markdown) {
	if d == nil {
		return
	}
	m.line("The bar, for %d kinds of input:", d.States)
	m.table("Before", "Now", "Kinds", "The smallest")
	for _, moved := range d.Matrix {
		smallest := "-"
		for _, c := range d.Changed {
			if c.From == moved.From && c.To == moved.To {
				smallest = c.situation()
			}
		}
		m.row(code(moved.From), code(moved.To), fmt.Sprint(moved.Cells), smallest)
	}
}

// codes formats names as code spans.
func codes(names []string, separator string) string {
	spans := make([]string, len(names))
	for i, name := range names {
		spans[i] = code(name)
	}
	return strings.Join(spans, separator)
}

// code formats a name as a code span.
func code(name string) string { return "`" + shown(name) + "`" }

// markdown collects paragraphs and tables, separated by blank lines.
type markdown struct{ text strings.Builder }

func (m *markdown) line(format string, args ...any) {
	m.gap()
	fmt.Fprintf(&m.text, format+"\n", args...)
}

// table begins a table. Its rows follow.
func (m *markdown) table(columns ...string) {
	m.gap()
	m.row(columns...)
	m.text.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
}

func (m *markdown) row(cells ...string) {
	m.text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (m *markdown) gap() {
	if m.text.Len() > 0 {
		m.text.WriteString("\n")
	}
}

// Summary describes the difference in one line, for a decision record's front matter.
func (d Diff) Summary() string {
	if d.From == nil {
		return fmt.Sprintf("first version: %s, %s", textutil.Count(len(d.Categories.Added), "category", "categories"), textutil.Count(len(d.Destinations.Added), "destination"))
	}
	var parts []string
	say := func(n int, one, many, how string) {
		if n > 0 {
			parts = append(parts, textutil.Count(n, one, many)+" "+how)
		}
	}
	say(len(d.Categories.Added), "category", "categories", "added")
	say(len(d.Categories.Removed), "category", "categories", "removed")
	say(len(d.Categories.Rerouted), "category", "categories", "re-routed")
	say(len(d.Destinations.Added), "destination", "destinations", "added")
	say(len(d.Destinations.Removed), "destination", "destinations", "removed")
	say(len(d.Destinations.Changed), "destination", "destinations", "changed")
	switch {
	case d.Precedence == nil:
	case d.Precedence.Reordered:
		parts = append(parts, "precedence reordered")
	default:
		say(len(d.Precedence.raised()), "row", "rows", "added to the precedence")
		say(len(d.Precedence.dropped()), "row", "rows", "removed from the precedence")
	}
	for _, m := range d.Decisions.Matrix {
		if m.From != m.To {
			parts = append(parts, fmt.Sprintf("%s from %s to %s", textutil.Count(m.Cells, "decision"), m.From, m.To))
		}
	}
	say(countCells(d.Decisions.Reasons), "decision", "decisions", "with another reason")
	if d.Bars != nil {
		for _, c := range d.Bars.Changed {
			parts = append(parts, fmt.Sprintf("%s from %s to %s", textutil.Count(c.Cells, "bar"), c.From, c.To))
		}
	}
	switch {
	case d.Empty():
		parts = append(parts, "no difference in meaning")
	case len(parts) == 0:
		parts = append(parts, "no difference found")
	}
	if d.open() {
		parts = append(parts, "not all inputs could be compared")
	}
	return strings.Join(parts, ", ")
}

// countCells returns the number of classes that change.
func countCells(changes []DecisionChange) int {
	n := 0
	for _, c := range changes {
		n += c.Cells
	}
	return n
}

// situation describes the smallest of the inputs in words.
func (c DecisionChange) situation() string {
	in := c.Example
	parts := []string{fmt.Sprintf("round %d of %d", in.Round, in.MaxRounds)}
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		if n := in.Routes[name]; n > 0 {
			parts = append(parts, textutil.Count(n, "finding")+" for "+name)
		}
	}
	if in.FindingCount == 0 {
		parts = append(parts, "no findings")
	}
	parts = append(parts, "verification "+string(in.Verify))
	parts = append(parts, c.FactWords()...)
	if in.NoProgress {
		return strings.Join(append(parts, textutil.Count(in.StalledRounds, "review")+" without progress"), ", ")
	}
	for _, past := range []struct {
		n         int
		one, many string
	}{{in.RepeatCount, "repeat", "repeats"}, {in.ReopenedCount, "reopened", "reopened"}, {in.ResolvedCount, "resolved", "resolved"}} {
		if past.n > 0 {
			parts = append(parts, textutil.Count(past.n, past.one, past.many))
		}
	}
	return strings.Join(parts, ", ")
}

// FactWords describes the facts of the smallest of the inputs, with the confinement levels
// of all of them.
func (c DecisionChange) FactWords() []string {
	if c.Confinement == nil {
		return FactWords(c.Example.Facts)
	}
	facts := *c.Example.Facts
	facts.Confinement = confinement.None
	return append(FactWords(&facts), "confinement "+strings.Join(textutil.Strings(c.Confinement), " or "))
}

// FactWords describes the facts that differ from those of a first review.
func FactWords(f *routing.Facts) []string {
	if f == nil {
		return nil
	}
	var words []string
	say := func(differs bool, fact string) {
		if differs {
			words = append(words, fact)
		}
	}
	say(f.ReviewsSinceLow > 0, textutil.Count(f.ReviewsSinceLow, "review")+" since the low")
	say(f.InducedRounds > 0, textutil.Count(f.InducedRounds, "review")+" with failures that fixes caused")
	say(f.BlockingCount > 0, fmt.Sprintf("%d blocking", f.BlockingCount))
	say(f.RoundsLeft <= 1, textutil.Count(f.RoundsLeft, "round")+" left")
	say(f.MayExtend, "may extend")
	say(f.Confinement != confinement.None, "confinement "+string(f.Confinement))
	return words
}

// shown returns a category for use in text. A policy may use any text as a category, and
// one that is not a plain name must not end a line, a table cell or a code span.
func shown(category string) string {
	if strings.ContainsFunc(category, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("`|\"\\", c) }) {
		return strings.NewReplacer("`", `\x60`, "|", `\x7c`).Replace(strconv.QuoteToASCII(category))
	}
	return category
}
