package diff

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Summary describes the difference in one line, for a decision record's front matter.
func (d Diff) Summary() string {
	if d.From == nil {
		return fmt.Sprintf("first version: %s, %s", textutil.Count(len(d.Categories.Added), "category", "categories"), textutil.Count(len(d.Destinations.Added), "destination", "destinations"))
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
	parts = append(parts, d.Decisions.moves()...)
	say(cells(d.Decisions.Reasons), "decision", "decisions", "with another reason")
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

// moves describes how many decisions change, by source and destination.
func (d Decisions) moves() []string {
	var moves []string
	for _, m := range d.Matrix {
		if m.From != m.To {
			moves = append(moves, fmt.Sprintf("%s from %s to %s", textutil.Count(m.Cells, "decision", "decisions"), m.From, m.To))
		}
	}
	return moves
}

func cells(flips []Flip) int {
	n := 0
	for _, f := range flips {
		n += f.Cells
	}
	return n
}

// situation describes an input in words.
func situation(in routing.Input) string {
	parts := []string{fmt.Sprintf("round %d of %d", in.Round, in.MaxRounds)}
	for _, name := range slices.Sorted(maps.Keys(in.Routes)) {
		if n := in.Routes[name]; n > 0 {
			parts = append(parts, textutil.Count(n, "finding", "findings")+" for "+name)
		}
	}
	if in.FindingCount == 0 {
		parts = append(parts, "no findings")
	}
	parts = append(parts, "verification "+string(in.Verify))
	if in.NoProgress {
		return strings.Join(append(parts, textutil.Count(in.StalledRounds, "review", "reviews")+" without progress"), ", ")
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

// shown returns a category for use in text. A policy may use any text as a category, and
// one that is not a plain name must not end a line, a table cell or a code span.
func shown(category string) string {
	for i := range len(category) {
		if c := category[i]; c <= ' ' || c > '~' || c == '`' || c == '|' || c == '"' || c == '\\' {
			return strings.NewReplacer("`", `\x60`, "|", `\x7c`).Replace(strconv.QuoteToASCII(category))
		}
	}
	return category
}
