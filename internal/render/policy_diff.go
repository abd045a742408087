package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// PolicyDiff prints the changes from one policy to another.
func (p *Printer) PolicyDiff(s DiffView) {
	from := "nothing"
	if s.From != nil {
		from = policyID(*s.From)
	}
	if s.Empty {
		p.Line("%s  %s and %s mean the same", p.paint(green, "same"), from, policyID(s.To))
		return
	}
	p.Line("%s  %s to %s", p.paint(yellow, "differs"), from, policyID(s.To))
	p.Line("  %s", s.Summary)
	p.Line("  version   %s: %s", stepWords(s.Step), s.StepBecause[0])
	for _, because := range s.StepBecause[1:] {
		p.Line("            %s", because)
	}
	p.changedRoutes(s.Categories)
	p.changedDestinations(s.Destinations)
	if s.Precedence != nil {
		p.title("Precedence, strongest first")
		p.Line("  before  %s", strings.Join(s.Precedence.From, " > "))
		p.Line("  now     %s", strings.Join(s.Precedence.To, " > "))
	}
	p.flips(s.Decisions)
	p.bars(s.Bars)
	if len(s.Gaps) > 0 {
		p.title("Not compared: the input is used in a way that cannot be bounded")
		for _, at := range s.Gaps {
			p.Line("  %s  %s", locationText(at), at.Text)
		}
	}
}

func stepWords(s diff.Step) string {
	if s == diff.None {
		return "a patch is enough"
	}
	return "needs a " + string(s) + " one"
}

// unknownCategory is the route of a category without a row in the table.
const unknownCategory = "unknown, so " + routing.Stuck

func (p *Printer) changedRoutes(c diff.Categories) {
	rows := newTable("CHANGE", "CATEGORY", "BEFORE", "NOW")
	for _, r := range c.Added {
		rows.add(cell{"added", green}, r.Category, dimmed(unknownCategory), action(r.Destination))
	}
	for _, r := range c.Removed {
		rows.add(cell{"removed", red}, r.Category, action(r.Destination), dimmed(unknownCategory))
	}
	for _, r := range c.Rerouted {
		rows.add(cell{"re-routed", yellow}, r.Category, action(r.From), action(r.To))
	}
	p.list(rows)
}

func (p *Printer) changedDestinations(d diff.Destinations) {
	rows := newTable("CHANGE", "DESTINATION", "BEFORE", "NOW")
	for _, a := range d.Added {
		rows.add(cell{"added", green}, a.Name, dimmed("-"), destinationWords(a.Destination))
	}
	for _, r := range d.Removed {
		rows.add(cell{"removed", red}, r.Name, destinationWords(r.Destination), dimmed("-"))
	}
	for _, c := range d.Changed {
		rows.add(cell{"changed", yellow}, c.Name, destinationWords(c.From), destinationWords(c.To))
	}
	p.list(rows)
}

// flips prints the changed decisions: as a matrix, and each kind with its smallest
// input.
func (p *Printer) flips(d diff.Decisions) {
	if len(d.Changed)+len(d.Reasons) == 0 {
		return
	}
	p.title("Decisions, of " + textutil.Count(d.States, "input class", "input classes"))
	p.matrix(d.Matrix)
	rows := newTable("CLASSES", "FROM", "REASON", "TO", "REASON", "SMALLEST INPUT")
	for _, f := range slices.Concat(d.Changed, d.Reasons) {
		rows.add(f.Cells, action(f.From), f.FromReason, action(f.To), f.ToReason, dimmed(inputWords(f.Example, f.FactWords())))
	}
	p.list(rows)
}

// bars prints the changed bars, as flips does the decisions.
func (p *Printer) bars(d *diff.Decisions) {
	if d == nil || len(d.Changed) == 0 {
		return
	}
	p.title("Bars, of " + textutil.Count(d.States, "input class", "input classes"))
	p.matrix(d.Matrix)
	rows := newTable("CLASSES", "FROM", "TO", "SMALLEST INPUT")
	for _, f := range d.Changed {
		rows.add(f.Cells, f.From, f.To, dimmed(inputWords(f.Example, f.FactWords())))
	}
	p.list(rows)
}

// matrix prints how many input classes go from which next action to which. Unchanged
// ones are on its diagonal.
func (p *Printer) matrix(moved []diff.Moved) {
	counts := make(map[[2]string]int)
	rowNames, columnNames := make(map[string]bool), make(map[string]bool)
	for _, m := range moved {
		counts[[2]string{m.From, m.To}] = m.Cells
		rowNames[m.From], columnNames[m.To] = true, true
	}
	columns := slices.Sorted(maps.Keys(columnNames))
	rows := newTable(append([]string{"FROM / TO"}, columns...)...)
	for _, from := range slices.Sorted(maps.Keys(rowNames)) {
		row := []any{action(from)}
		for _, to := range columns {
			n := counts[[2]string{from, to}]
			switch {
			case n == 0:
				row = append(row, dimmed("."))
			case from == to:
				row = append(row, n)
			default:
				row = append(row, cell{strconv.Itoa(n), yellow})
			}
		}
		rows.add(row...)
	}
	p.table(rows)
}

// inputWords describes a policy's input. facts describes its facts.
func inputWords(in routing.Input, facts []string) string {
	words := []string{fmt.Sprintf("round %d of %d", in.Round, in.MaxRounds), "verification " + string(in.Verify)}
	if in.FindingCount == 0 {
		words = append(words, "no findings")
	}
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		if n := in.Routes[name]; n > 0 {
			words = append(words, textutil.Count(n, "finding")+" for "+name)
		}
	}
	words = append(words, nonZeroParts(part{in.RepeatCount, "repeated"}, part{in.ReopenedCount, "reopened"}, part{in.ResolvedCount, "resolved"})...)
	if in.StalledRounds > 0 {
		words = append(words, textutil.Count(in.StalledRounds, "review")+" without progress")
	}
	return strings.Join(append(words, facts...), ", ")
}

// DiffView is the JSON output of policy diff.
type DiffView struct {
	diff.Diff
	// Empty is set if both policies have the same meaning.
	Empty bool `json:"empty"`
	// Step is the smallest step in the version that the change needs, and StepBecause
	// the changes that need it.
	Step        diff.Step `json:"step"`
	StepBecause []string  `json:"step_because"`
	// Summary and Digest are as in a decision record.
	Summary string `json:"summary"`
	Digest  string `json:"digest"`
}

// NewDiffView converts a diff to its JSON form.
func NewDiffView(d diff.Diff) DiffView {
	s := DiffView{Diff: d, Empty: d.Empty(), Summary: d.Summary(), Digest: d.Digest()}
	s.Step, s.StepBecause = d.Step()
	return s
}
