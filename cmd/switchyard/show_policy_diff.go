package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/policies"
)

// difference shows what changes from one policy to another.
func (p *page) difference(s shownDiff) {
	from := "nothing"
	if s.From != nil {
		from = policyShort(*s.From)
	}
	if s.Empty {
		p.line("%s  %s and %s mean the same", p.paint(green, "same"), from, policyShort(s.To))
		return
	}
	p.line("%s  %s to %s", p.paint(yellow, "differs"), from, policyShort(s.To))
	p.line("  %s", s.Summary)
	p.line("  version   %s: %s", stepWords(s.Step), s.StepBecause[0])
	for _, because := range s.StepBecause[1:] {
		p.line("            %s", because)
	}
	p.changedRoutes(s.Categories)
	p.changedDestinations(s.Destinations)
	if s.Precedence != nil {
		p.line("")
		p.line("%s", p.paint(bold, "Precedence, strongest first"))
		p.line("  before  %s", strings.Join(s.Precedence.From, " > "))
		p.line("  now     %s", strings.Join(s.Precedence.To, " > "))
	}
	p.flips(s.Decisions)
	if len(s.Gaps) > 0 {
		p.line("")
		p.line("%s", p.paint(bold, "Not compared: the input is used in a way that nobody can bound"))
		for _, at := range s.Gaps {
			p.line("  %s  %s", placed(at), at.Text)
		}
	}
}

func stepWords(s diff.Step) string {
	if s == diff.None {
		return "a patch is enough"
	}
	return "needs a " + string(s) + " one"
}

// unknownCategory is what a category without a row in the table is.
const unknownCategory = "unknown, so " + policies.Stuck

func (p *page) changedRoutes(c diff.Categories) {
	var rows [][]cell
	for _, r := range c.Added {
		rows = append(rows, []cell{{"added", green}, {r.Category, plain}, {unknownCategory, dim}, {r.Destination, actionColor(r.Destination)}})
	}
	for _, r := range c.Removed {
		rows = append(rows, []cell{{"removed", red}, {r.Category, plain}, {r.Destination, actionColor(r.Destination)}, {unknownCategory, dim}})
	}
	for _, r := range c.Rerouted {
		rows = append(rows, []cell{{"re-routed", yellow}, {r.Category, plain}, {r.From, actionColor(r.From)}, {r.To, actionColor(r.To)}})
	}
	p.changes([]string{"CHANGE", "CATEGORY", "BEFORE", "NOW"}, rows)
}

func (p *page) changedDestinations(d diff.Destinations) {
	var rows [][]cell
	for _, a := range d.Added {
		rows = append(rows, []cell{{"added", green}, {a.Name, plain}, {"-", dim}, {destinationWords(a.Destination), plain}})
	}
	for _, r := range d.Removed {
		rows = append(rows, []cell{{"removed", red}, {r.Name, plain}, {destinationWords(r.Destination), plain}, {"-", dim}})
	}
	for _, c := range d.Changed {
		rows = append(rows, []cell{{"changed", yellow}, {c.Name, plain}, {destinationWords(c.From), plain}, {destinationWords(c.To), plain}})
	}
	p.changes([]string{"CHANGE", "DESTINATION", "BEFORE", "NOW"}, rows)
}

// changes is a table behind a blank line, and nothing where there is no row.
func (p *page) changes(header []string, rows [][]cell) {
	if len(rows) > 0 {
		p.line("")
		p.table(header, rows)
	}
}

// flips shows the decisions that change: as a matrix, and each kind with its
// smallest input.
func (p *page) flips(d diff.Decisions) {
	if len(d.Flips)+len(d.Reasons) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.paint(bold, fmt.Sprintf("Decisions, of %s", plural(d.States, "kind")+" of input")))
	p.matrix(d.Matrix)
	var rows [][]cell
	for _, f := range slices.Concat(d.Flips, d.Reasons) {
		rows = append(rows, []cell{
			{strconv.Itoa(f.Cells), plain}, {f.From, actionColor(f.From)}, {f.FromReason, plain},
			{f.To, actionColor(f.To)}, {f.ToReason, plain}, {inputWords(f.Example), dim},
		})
	}
	p.changes([]string{"KINDS", "FROM", "REASON", "TO", "REASON", "THE SMALLEST"}, rows)
}

// matrix shows how many kinds of input go from which next action to which. What
// stays lies on its diagonal.
func (p *page) matrix(moved []diff.Moved) {
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
				row = append(row, cell{".", dim})
			case from == to:
				row = append(row, cell{strconv.Itoa(n), plain})
			default:
				row = append(row, cell{strconv.Itoa(n), yellow})
			}
		}
		rows = append(rows, row)
	}
	p.table(append([]string{"FROM / TO"}, columns...), rows)
}

// inputWords is what a policy is asked, in words.
func inputWords(in policies.Input) string {
	words := []string{fmt.Sprintf("round %d of %d", in.Round, in.MaxRounds), "verification " + string(in.Verify)}
	if in.FindingCount == 0 {
		words = append(words, "no findings")
	}
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		if n := in.Routes[name]; n > 0 {
			words = append(words, plural(n, "finding")+" for "+name)
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
		words = append(words, plural(in.StalledRounds, "review")+" without progress")
	}
	return strings.Join(words, ", ")
}
