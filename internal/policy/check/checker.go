package check

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// checker collects violations of the invariants.
type checker struct {
	policy       *routing.Policy
	domain       *inputspace.Domain
	branches     *routing.Branches
	asked        answers
	destinations map[string]routing.Destination
	precedence   []string
	found        map[Invariant]*found
}

// found holds the violations of one invariant.
type found struct {
	checked  int
	violated int
	skipped  string
	stored   []Violation // the simplest, in order
}

func newChecker(p *routing.Policy, d *inputspace.Domain, branches *routing.Branches, asked answers) *checker {
	c := &checker{
		policy: p, domain: d, branches: branches, asked: asked,
		destinations: p.Destinations(), precedence: p.Precedence(),
		found: make(map[Invariant]*found),
	}
	for _, i := range Invariants() {
		c.found[i] = new(found)
	}
	return c
}

// add counts a violation and stores it if it is among the simplest. Of equally simple
// ones the earlier comes first.
func (f *found) add(v Violation) {
	f.violated++
	size := v.size()
	at := slices.IndexFunc(f.stored, func(stored Violation) bool { return stored.size() > size })
	if at < 0 {
		at = len(f.stored)
	}
	f.stored = slices.Insert(f.stored, at, v)
	f.stored = f.stored[:min(len(f.stored), MaxViolations)]
}

// size returns the size of the input that shows the violation. One that is not about a decision
// sorts before any that is.
func (v Violation) size() int {
	switch {
	case v.Other != nil:
		return inputspace.Size(v.Other.Input)
	case v.Input != nil:
		return inputspace.Size(*v.Input)
	default:
		return 0
	}
}

// skipDecisions marks the invariants that need all decisions as not checked. It drops the
// violations found so far: they would differ between runs.
func (c *checker) skipDecisions() {
	for invariant, f := range c.found {
		if invariant != Total && invariant != CategoryRaised && invariant != CategoryKnown {
			*f = found{skipped: "the policy ran over its time, and was not evaluated further"}
		}
	}
}

// results returns the report's result for every invariant.
func (c *checker) results(o Options) []Result {
	var results []Result
	for _, rule := range rules() {
		if rule.bar && !c.policy.HasBar() {
			continue
		}
		f := c.found[rule.invariant]
		r := Result{
			Invariant: rule.invariant, Says: rule.says, Waivable: rule.waivable,
			Holds: f.violated == 0 && f.skipped == "", Checked: f.checked, Skipped: f.skipped,
			Violated: f.violated, Violations: append([]Violation{}, f.stored...),
		}
		if f.violated > 0 {
			r.Skipped = "" // a violation is conclusive even after a partial check
		}
		for _, w := range o.Waivers {
			switch {
			case w.Invariant != rule.invariant || f.violated == 0:
			case w.Proposed:
				r.ProposedBy = w.ADR
			default:
				r.WaivedBy = w.ADR
			}
		}
		results = append(results, r)
	}
	return results
}

// locate finds the line behind each violation of a decision so far: the branch that decided. If
// two inputs of a class differ, it is the first branch that matches only one of them.
func (c *checker) locate(ctx context.Context) {
	for _, f := range c.found {
		for i := range f.stored {
			v := &f.stored[i]
			if v.Input == nil {
				continue
			}
			branches := c.matching(ctx, *v.Input)
			if v.Other != nil {
				branches = onlyOne(branches, c.matching(ctx, v.Other.Input))
			}
			if len(branches) > 0 {
				v.Location = new(c.branches.All()[slices.Min(branches)].Location)
			}
		}
	}
}

// matching returns the matching branches, in order. If matching fails, it returns nil, and
// the violation is reported without a line.
func (c *checker) matching(ctx context.Context, in routing.Input) []int {
	matches, err := c.branches.Matching(ctx, in)
	if err != nil {
		return nil
	}
	var branches []int
	for _, h := range matches {
		branches = append(branches, h.Branch)
	}
	return branches
}

// onlyOne returns the elements that are in exactly one of the two.
func onlyOne(a, b []int) []int {
	return slices.DeleteFunc(slices.Concat(a, b), func(n int) bool { return slices.Contains(a, n) && slices.Contains(b, n) })
}
