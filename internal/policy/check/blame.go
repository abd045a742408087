package check

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// blame finds the line behind each violation that is about a decision: the branch
// that decided. Where two inputs of a class differ, it is the first branch that
// holds for only one of them.
func (c *checker) blame(ctx context.Context) {
	if c.asked.slow {
		return // to climb would take as long again
	}
	for _, f := range c.found {
		for i := range f.kept {
			v := &f.kept[i].Violation
			if v.Input == nil {
				continue
			}
			rungs := c.holding(ctx, *v.Input)
			if v.Other != nil {
				rungs = onlyOne(rungs, c.holding(ctx, v.Other.Input))
			}
			if len(rungs) > 0 {
				place := c.ladder.Rungs()[rungs[0]].Place
				v.Place = &place
			}
		}
	}
}

// holding lists the rungs that hold, in order. Where the ladder fails there are
// none: the violation stands without it.
func (c *checker) holding(ctx context.Context, in routing.Input) []int {
	held, err := c.ladder.Climb(ctx, in)
	if err != nil {
		return nil
	}
	var rungs []int
	for _, h := range held {
		rungs = append(rungs, h.Rung)
	}
	return rungs
}

// onlyOne lists what is in one of the two and not in the other, sorted.
func onlyOne(a, b []int) []int {
	lacks := func(list []int) func(int) bool {
		return func(n int) bool { return slices.Contains(list, n) }
	}
	return slices.Sorted(slices.Values(slices.Concat(
		slices.DeleteFunc(slices.Clone(a), lacks(b)),
		slices.DeleteFunc(slices.Clone(b), lacks(a)),
	)))
}
