package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// deadRows requires a decision for every destination, and so for every row of the
// precedence. Only inputs that can occur count: findings for a destination that has a
// category, or for stuck, the destination of unknown categories.
func (c *checker) deadRows() {
	if c.asked.slow {
		c.skip(NoDeadRow)
		return
	}
	routed := map[string]bool{routing.Stuck: true}
	for _, to := range c.policy.RouteTable() {
		routed[to] = true
	}
	reached := make(map[string]bool)
	for i := range c.asked.classes {
		if a := c.asked.states[i]; a.code == "" && !reached[a.decision.NextAction] {
			reached[a.decision.NextAction] = onlyFor(c.domain.At(i), routed)
		}
	}

	f := c.found[NoDeadRow]
	for _, name := range slices.Sorted(maps.Keys(c.destinations)) {
		f.checked++
		switch {
		case reached[name]:
		case slices.Contains(c.precedence, name) && !routed[name]:
			f.flaw(Violation{Message: fmt.Sprintf("no category goes to %q, and nothing is decided for it", name)})
		default:
			f.flaw(Violation{Message: fmt.Sprintf("nothing is decided for %q", name)})
		}
	}
}

// onlyFor reports whether all findings are for the named destinations.
func onlyFor(in routing.Input, names map[string]bool) bool {
	for name, n := range in.Routes {
		if n > 0 && !names[name] {
			return false
		}
	}
	return true
}

// shadowedBranches requires every branch of decision to decide some input. Matching is
// expensive, so it is done only for inputs whose decision could come from a branch not
// yet seen to decide.
func (c *checker) shadowedBranches(ctx context.Context) {
	if c.asked.slow {
		c.skip(NoShadowedRule)
		return
	}
	unseen := make(map[int]routing.Branch)
	for _, branch := range c.branches.All() {
		unseen[branch.Index] = branch
	}
	f := c.found[NoShadowedRule]
	f.checked = len(unseen)
	for i := range c.asked.classes {
		a := c.asked.states[i]
		if !anyCould(unseen, a) {
			continue
		}
		held, err := c.branches.Matching(ctx, c.domain.At(i))
		if err != nil || len(held) == 0 {
			continue // then it shows no branch that decides
		}
		if first := held[0]; a.refused() || first.Decision == a.decision {
			delete(unseen, first.Branch)
		}
	}
	for _, index := range slices.Sorted(maps.Keys(unseen)) {
		place := unseen[index].Location
		f.flaw(Violation{Message: "this branch never decides: for every input for which it holds, an earlier branch holds too", Location: &place})
	}
}

// anyCould reports whether the constant part of some branch agrees with the answer.
func anyCould(branches map[int]routing.Branch, a answer) bool {
	if a.code != "" {
		return a.refused() && len(branches) > 0
	}
	for _, branch := range branches {
		says := branch.Decision
		if says == nil || (says.NextAction == "" || says.NextAction == a.decision.NextAction) && (says.Reason == "" || says.Reason == a.decision.Reason) {
			return true
		}
	}
	return false
}
