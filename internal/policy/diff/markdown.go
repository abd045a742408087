package diff

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Markdown formats the difference as tables for a decision record. It ends with a
// newline.
func (d Diff) Markdown() string {
	var m markdown
	if d.From == nil {
		m.line("`%s` is the first version.", reference(d.To))
	} else {
		m.line("From `%s` to `%s`:", reference(*d.From), reference(d.To))
	}
	d.Categories.markdown(&m, d.From == nil)
	d.Destinations.markdown(&m)
	d.Precedence.markdown(&m)
	if d.From != nil {
		d.Decisions.markdown(&m)
	}
	if d.Empty() {
		m.line("Nothing changes in meaning.")
	}
	if d.open() {
		m.line("Not all inputs could be compared: the rules use the input in a way that cannot be bounded, in %s.", places(d.Gaps))
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
		m.row("Before", ranking(p.From))
	}
	m.row("Now", ranking(p.To))
}

func ranking(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = code(name)
	}
	return strings.Join(quoted, " > ")
}

func (d Decisions) markdown(m *markdown) {
	if len(d.Flips)+len(d.Reasons) == 0 {
		m.line("All %d kinds of input are decided as before, and for the same reasons.", d.States)
		return
	}
	m.line("Of %d kinds of input, %d go elsewhere than before, and %d go where they went for another reason:",
		d.States, cells(d.Flips), cells(d.Reasons))
	m.table("Before", "Now", "Kinds", "The smallest")
	for _, flips := range [][]Flip{d.Flips, d.Reasons} {
		for _, f := range flips {
			m.row(code(f.From)+" ("+code(f.FromReason)+")", code(f.To)+" ("+code(f.ToReason)+")", fmt.Sprint(f.Cells), situation(f.Example))
		}
	}
}

func places(gaps []routing.Location) string {
	list := make([]string, len(gaps))
	for i, g := range gaps {
		list[i] = code(placeOf(g))
	}
	return strings.Join(list, ", ")
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
