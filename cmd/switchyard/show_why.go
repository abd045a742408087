package main

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
)

// why shows the rule that decided, what it outranked, and what would have led
// elsewhere.
func (p *page) why(x *explain.Explanation) {
	p.line("")
	p.line("%s", p.paint(bold, "Why"))
	if x == nil {
		p.line("  the policy that decided is not to be had any more")
		return
	}
	if x.Rule != nil {
		p.line("  rule       %s  %s", placed(x.Rule.Place), x.Rule.Place.Text)
	}
	for _, o := range x.Outranked {
		p.line("  outranked  %s  %s (%s)", placed(o.Rule.Place), o.Decision.NextAction, o.Decision.Reason)
	}
	for _, w := range x.Weaker {
		p.line("  waits      %s for %s", plural(w.Findings, "finding"), w.Destination)
	}
	for i, f := range x.Flips {
		label := "flips"
		if i > 0 {
			label = "or"
		}
		p.flip(label, f)
	}
	for _, f := range x.Ways {
		// What leads there for less is among the flips.
		if !slices.ContainsFunc(x.Flips, func(flip explain.Flip) bool { return flip.Decision.NextAction == f.Decision.NextAction }) {
			p.flip("farther", f)
		}
	}
	switch {
	case x.GaveUp && len(x.Flips) == 0:
		p.line("  flips      none was found in %d tries; there may be one", x.Tried)
	case len(x.Flips) == 0:
		p.line("  flips      nothing would have led elsewhere")
	}
}

// flip says which changes lead where.
func (p *page) flip(label string, f explain.Flip) {
	p.line("  %-9s  %s: %s (%s)", label, f.Words(), p.paint(actionColor(f.Decision.NextAction), f.Decision.NextAction), f.Decision.Reason)
}
