package check

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// checkBars checks the rule bar, if the policy has it, and adds its size to the report.
func (c *checker) checkBars(ctx context.Context, report *Report) error {
	if !c.policy.HasBar() {
		return nil
	}
	d, err := inputspace.Of(routing.BarRule, c.policy)
	if err != nil {
		return err
	}
	branches, err := c.policy.Branches(ctx, routing.BarRule)
	if err != nil {
		return err
	}
	seen := make([]bool, len(branches.All()))
	steps := c.barSteps()
	for i := range d.Len() {
		in, probe := d.At(i), d.Sample(i, seed)
		bar := c.bar(ctx, in)
		if other := c.bar(ctx, probe); bar != other {
			c.found[Classes].add(Violation{
				Message: fmt.Sprintf("the bar is %q, but %q for another input of the same class", bar, other),
				Input:   &in, Bar: bar, Other: &Answer{Input: probe},
			})
		}
		c.checkMonotone(ctx, in, steps)
		if matches, err := branches.Matching(ctx, in); err == nil && len(matches) > 0 {
			seen[matches[0].Branch] = true
		}
	}
	c.found[Classes].checked += d.Len()
	for _, gap := range d.Gaps() {
		c.found[Classes].add(gapViolation(gap))
	}
	c.found[NoShadowedRule].checked += len(seen)
	for i, branch := range branches.All() {
		if !seen[i] {
			c.found[NoShadowedRule].add(shadowedViolation(branch))
		}
	}
	report.BarStates = d.Len()
	report.Branches += len(seen)
	report.Gaps = append(report.Gaps, d.Gaps()...)
	return nil
}

// bar returns the policy's bar for an input. A failure is a violation, and returns "".
func (c *checker) bar(ctx context.Context, in routing.Input) routing.Bar {
	f := c.found[FailNeverDeferred]
	f.checked++
	made, err := c.policy.Ask(ctx, routing.BarRule, in)
	if err != nil {
		f.add(Violation{Message: err.Error(), Input: &in, Code: errs.CodeOf(err)})
	}
	return routing.Bar(made.NextAction)
}

// barSteps lists values of reviews_since_low, in order: one for each range of values that
// the policy distinguishes.
func (c *checker) barSteps() []int {
	steps := []int{0}
	for _, n := range c.policy.Thresholds(routing.BarRule).Fields["reviews_since_low"] {
		steps = append(steps, n-1, n, n+1)
	}
	slices.Sort(steps)
	return slices.DeleteFunc(slices.Compact(steps), func(n int) bool { return n < 0 })
}

// checkMonotone requires that the bar for an input does not fall from step to step.
func (c *checker) checkMonotone(ctx context.Context, in routing.Input, steps []int) {
	if in.FirstTimeCount == 0 {
		return
	}
	f := c.found[BarMonotone]
	last := routing.BarAll
	for _, n := range steps {
		step, facts := in, *in.Facts
		facts.ReviewsSinceLow = n
		step.Facts = &facts
		bar, err := c.policy.Bar(ctx, step)
		if err != nil {
			continue // bar has reported it
		}
		f.checked++
		if last.Above(bar) {
			f.add(Violation{Message: fmt.Sprintf("the bar falls from %q to %q", last, bar), Input: &step, Bar: bar})
		}
		last = bar
	}
}
