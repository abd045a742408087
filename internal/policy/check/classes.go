package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// redraws is how many samples of a class are drawn in search of a simple one that is
// decided differently from its representative.
const redraws = 200

// classes requires that inputs of one class are decided alike, and that the policy uses
// no number in a way that cannot be bounded.
func (c *checker) classes(ctx context.Context) {
	if c.asked.slow {
		c.skip(Classes)
		return
	}
	f := c.found[Classes]
	for _, gap := range c.domain.Gaps() {
		f.flaw(Violation{
			Message:  "nobody can tell which numbers matter here, so there may be more classes than were tried",
			Location: &gap,
		})
	}
	f.checked = c.asked.classes
	var unlike []int
	for class, state := range c.asked.states {
		if !state.same(c.asked.probes[class]) {
			unlike = append(unlike, class)
		}
	}
	slices.SortStableFunc(unlike, func(a, b int) int {
		return cmp.Compare(inputspace.Size(c.domain.Sample(a, seed)), inputspace.Size(c.domain.Sample(b, seed)))
	})
	for i, class := range unlike {
		if i >= MaxViolations {
			f.violated += len(unlike) - i
			break
		}
		probe, other := c.simplest(ctx, class)
		f.add(inputspace.Size(probe), func() Violation {
			in, state := c.domain.At(class), c.asked.states[class]
			return Violation{
				Message: fmt.Sprintf("%s, but another input of the same class %s", comesTo(state), comesTo(other)),
				Input:   &in, Decision: state.made(), Code: state.code,
				Other: &Answer{Input: probe, Decision: other.made(), Code: other.code},
			}
		})
	}
}

// simplest returns the simplest sampled input of a class that the policy decides
// differently from the class's representative.
func (c *checker) simplest(ctx context.Context, class int) (routing.Input, answer) {
	simplest, other := c.domain.Sample(class, seed), c.asked.probes[class]
	for more := range uint64(redraws) {
		probe := c.domain.Sample(class, seed+1+more)
		if inputspace.Size(probe) >= inputspace.Size(simplest) {
			continue
		}
		if a := decide(ctx, c.policy, probe); !a.same(c.asked.states[class]) {
			simplest, other = probe, a
		}
	}
	return simplest, other
}

// comesTo describes the answer for an input.
func comesTo(a answer) string {
	if a.code != "" {
		return "ends in " + string(a.code)
	}
	return fmt.Sprintf("goes to %q (%s)", a.decision.NextAction, a.decision.Reason)
}
