package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// PolicyDiff prints the changes from one policy to another.
func (p *Printer) PolicyDiff(s DiffView) {
	from := "nothing"
	if s.From != nil {
		from = PolicyID(*s.From)
	}
	if s.Empty {
		p.Line("%s  %s and %s mean the same", p.Paint(Green, "same"), from, PolicyID(s.To))
		return
	}
	p.Line("%s  %s to %s", p.Paint(Yellow, "differs"), from, PolicyID(s.To))
	p.Line("  %s", s.Summary)
	p.Line("  version   %s: %s", stepWords(s.Step), s.StepBecause[0])
	for _, because := range s.StepBecause[1:] {
		p.Line("            %s", because)
	}
	p.changedRoutes(s.Categories)
	p.changedDestinations(s.Destinations)
	if s.Precedence != nil {
		p.Line("")
		p.Line("%s", p.Paint(Bold, "Precedence, strongest first"))
		p.Line("  before  %s", strings.Join(s.Precedence.From, " > "))
		p.Line("  now     %s", strings.Join(s.Precedence.To, " > "))
	}
	p.flips(s.Decisions)
	if len(s.Gaps) > 0 {
		p.Line("")
		p.Line("%s", p.Paint(Bold, "Not compared: the input is used in a way that cannot be bounded"))
		for _, at := range s.Gaps {
			p.Line("  %s  %s", placed(at), at.Text)
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
const unknownCategory = "unknown, so " + policies.Stuck

func (p *Printer) changedRoutes(c diff.Categories) {
	var rows [][]cell
	for _, r := range c.Added {
		rows = append(rows, []cell{{"added", Green}, {r.Category, Plain}, {unknownCategory, Dim}, {r.Destination, actionColor(r.Destination)}})
	}
	for _, r := range c.Removed {
		rows = append(rows, []cell{{"removed", Red}, {r.Category, Plain}, {r.Destination, actionColor(r.Destination)}, {unknownCategory, Dim}})
	}
	for _, r := range c.Rerouted {
		rows = append(rows, []cell{{"re-routed", Yellow}, {r.Category, Plain}, {r.From, actionColor(r.From)}, {r.To, actionColor(r.To)}})
	}
	p.changes([]string{"CHANGE", "CATEGORY", "BEFORE", "NOW"}, rows)
}

func (p *Printer) changedDestinations(d diff.Destinations) {
	var rows [][]cell
	for _, a := range d.Added {
		rows = append(rows, []cell{{"added", Green}, {a.Name, Plain}, {"-", Dim}, {destinationWords(a.Destination), Plain}})
	}
	for _, r := range d.Removed {
		rows = append(rows, []cell{{"removed", Red}, {r.Name, Plain}, {destinationWords(r.Destination), Plain}, {"-", Dim}})
	}
	for _, c := range d.Changed {
		rows = append(rows, []cell{{"changed", Yellow}, {c.Name, Plain}, {destinationWords(c.From), Plain}, {destinationWords(c.To), Plain}})
	}
	p.changes([]string{"CHANGE", "DESTINATION", "BEFORE", "NOW"}, rows)
}

// changes prints a table after a blank line, or nothing if it has no rows.
func (p *Printer) changes(header []string, rows [][]cell) {
	if len(rows) > 0 {
		p.Line("")
		p.table(header, rows)
	}
}

// flips prints the changed decisions: as a matrix, and each kind with its smallest
// input.
func (p *Printer) flips(d diff.Decisions) {
	if len(d.Flips)+len(d.Reasons) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Paint(Bold, "Decisions, of "+textutil.Count(d.States, "input class", "input classes")))
	p.matrix(d.Matrix)
	var rows [][]cell
	for _, f := range slices.Concat(d.Flips, d.Reasons) {
		rows = append(rows, []cell{
			{strconv.Itoa(f.Cells), Plain}, {f.From, actionColor(f.From)}, {f.FromReason, Plain},
			{f.To, actionColor(f.To)}, {f.ToReason, Plain}, {inputWords(f.Example), Dim},
		})
	}
	p.changes([]string{"CLASSES", "FROM", "REASON", "TO", "REASON", "SMALLEST INPUT"}, rows)
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
	var rows [][]cell
	for _, from := range slices.Sorted(maps.Keys(rowNames)) {
		row := []cell{{from, actionColor(from)}}
		for _, to := range columns {
			n := counts[[2]string{from, to}]
			switch {
			case n == 0:
				row = append(row, cell{".", Dim})
			case from == to:
				row = append(row, cell{strconv.Itoa(n), Plain})
			default:
				row = append(row, cell{strconv.Itoa(n), Yellow})
			}
		}
		rows = append(rows, row)
	}
	p.table(append([]string{"FROM / TO"}, columns...), rows)
}

// inputWords describes a policy's input.
func inputWords(in policies.Input) string {
	words := []string{fmt.Sprintf("round %d of %d", in.Round, in.MaxRounds), "verification " + string(in.Verify)}
	if in.FindingCount == 0 {
		words = append(words, "no findings")
	}
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		if n := in.Routes[name]; n > 0 {
			words = append(words, textutil.Count(n, "finding")+" for "+name)
		}
	}
	for _, past := range []struct {
		n    int
		word string
	}{{in.RepeatCount, "repeated"}, {in.ReopenedCount, "reopened"}, {in.ResolvedCount, "resolved"}} {
		if past.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", past.n, past.word))
		}
	}
	if in.StalledRounds > 0 {
		words = append(words, textutil.Count(in.StalledRounds, "review")+" without progress")
	}
	return strings.Join(words, ", ")
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

func NewDiffView(d diff.Diff) DiffView {
	s := DiffView{Diff: d, Empty: d.Empty(), Summary: d.Summary(), Digest: d.Digest()}
	s.Step, s.StepBecause = d.Step()
	return s
}
