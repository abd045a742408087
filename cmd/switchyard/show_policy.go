package main

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/policies"
)

// policy shows a policy.
func (p *page) policy(s shownPolicy) {
	p.line("%s  %s", p.paint(bold, s.Policy.Name+" "+s.Policy.Version), s.Title)
	p.line("  record    %s", s.Policy.ADR)
	p.line("  digest    %s", s.Policy.Digest)
	if s.Policy.Revision != "" {
		p.line("  revision  %s", s.Policy.Revision)
	}
	if s.Signer != "" {
		p.line("  signed    by %s", s.Signer)
	}
	p.line("")
	p.line("%s", p.paint(bold, "Destinations, strongest first"))
	for _, d := range s.Destinations {
		p.line("  %s  %s", p.paint(actionColor(d.Name), d.Name), destinationWords(d.Destination))
		p.wrapped("      ", d.Categories)
	}
	p.line("")
	p.line("%s", p.paint(bold, "Decision, by the first that holds"))
	rows := make([][]cell, len(s.Rungs))
	for i, r := range s.Rungs {
		to, reason := "computed", "computed"
		if r.Decision != nil {
			to, reason = cmp.Or(r.Decision.NextAction, to), cmp.Or(r.Decision.Reason, reason)
		}
		rows[i] = []cell{{to, actionColor(to)}, {reason, plain}, {placed(r.Place), dim}, {r.Place.Text, plain}}
	}
	p.table([]string{"GOES TO", "REASON", "AT", "RULE"}, rows)
}

func destinationWords(d policies.Destination) string {
	who := map[policies.Kind]string{policies.Agent: "an agent", policies.Human: "a person", policies.Terminal: "ends the loop"}
	words := cmp.Or(who[d.Kind], string(d.Kind))
	if d.AdvancesRound {
		words += ", begins a round"
	}
	return words
}

// wrapWidth is how wide a list of words is laid out, in code points: the same in a
// terminal and in a file.
const wrapWidth = 80

// wrapped writes words with commas, in lines of a bearable width.
func (p *page) wrapped(indent string, all []string) {
	line := ""
	for i, word := range all {
		if word = clean(word); i < len(all)-1 {
			word += ","
		}
		if line != "" && utf8.RuneCountInString(indent+line+" "+word) > wrapWidth {
			p.line("%s%s", indent, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		p.line("%s%s", indent, line)
	}
}

// strongestFirst lists a policy's destinations by precedence, and those that no
// finding can have behind them.
func strongestFirst(policy *policies.Policy) []string {
	all := policy.Precedence()
	for _, name := range slices.Sorted(maps.Keys(policy.Destinations())) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// sortedRoutes are the categories of a policy's table, in their order, with their
// destinations.
func sortedRoutes(policy *policies.Policy) iter.Seq2[string, string] {
	table := policy.RouteTable()
	return func(yield func(string, string) bool) {
		for _, category := range slices.Sorted(maps.Keys(table)) {
			if !yield(category, table[category]) {
				return
			}
		}
	}
}

// rego shows Rego files, laid out with four spaces a tab.
func (p *page) rego(sources []policies.Source) {
	for i, s := range sources {
		if len(sources) > 1 {
			if i > 0 {
				p.line("")
			}
			p.line("%s", p.paint(dim, "# "+s.Name))
		}
		for line := range strings.Lines(s.Text) {
			p.line("%s", strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    "))
		}
	}
}

// placed is a line of a policy, as compilers name it. A file below the current folder
// is named from there.
func placed(at policies.Place) string {
	file := at.File
	if dir, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
	}
	return fmt.Sprintf("%s:%d:%d", file, at.Row, at.Col)
}
