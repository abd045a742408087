package check

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// blame finds the line behind each violation of a decision: the branch that decided. If
// two inputs of a class differ, it is the first branch that matches only one of them.
func (c *checker) blame(ctx context.Context) {
	if c.asked.slow {
		return // matching would take as long again
	}
	for _, f := range c.found {
		for i := range f.stored {
			v := &f.stored[i].Violation
			if v.Input == nil {
				continue
			}
			branches := c.holding(ctx, *v.Input)
			if v.Other != nil {
				branches = onlyOne(branches, c.holding(ctx, v.Other.Input))
			}
			if len(branches) > 0 {
				place := c.branches.All()[branches[0]].Location
				v.Location = &place
			}
		}
	}
}

// holding returns the matching branches, in order. It returns none if matching fails: the
// violation is reported without a line.
func (c *checker) holding(ctx context.Context, in routing.Input) []int {
	held, err := c.branches.Matching(ctx, in)
	if err != nil {
		return nil
	}
	var branches []int
	for _, h := range held {
		branches = append(branches, h.Branch)
	}
	return branches
}

// onlyOne returns the elements that are in exactly one of the two, sorted.
func onlyOne(a, b []int) []int {
	lacks := func(list []int) func(int) bool {
		return func(n int) bool { return slices.Contains(list, n) }
	}
	return slices.Sorted(slices.Values(slices.Concat(
		slices.DeleteFunc(slices.Clone(a), lacks(b)),
		slices.DeleteFunc(slices.Clone(b), lacks(a)),
	)))
}
