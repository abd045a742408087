package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// checkDeadRows requires a decision for every destination, and so for every row of the
// precedence. Only inputs that can occur count: their findings are for destinations of a
// category, or for stuck, the destination of unknown categories.
func (c *checker) checkDeadRows() {
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
			f.add(Violation{Message: fmt.Sprintf("no category goes to %q, and nothing is decided for it", name)})
		default:
			f.add(Violation{Message: fmt.Sprintf("nothing is decided for %q", name)})
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

// checkShadowedBranches requires every branch of decision to decide some input. Matching is
// expensive, so it skips inputs whose decision cannot come from a branch still unseen.
func (c *checker) checkShadowedBranches(ctx context.Context) {
	unseen := slices.Clone(c.branches.All())
	f := c.found[NoShadowedRule]
	f.checked = len(unseen)
	for i := range c.asked.classes {
		a := c.asked.states[i]
		if !anyCould(unseen, a) {
			continue
		}
		matches, err := c.branches.Matching(ctx, c.domain.At(i))
		if err != nil || len(matches) == 0 {
			continue
		}
		if first := matches[0]; a.isRefused() || first.Decision == a.decision {
			unseen = slices.DeleteFunc(unseen, func(branch routing.Branch) bool { return branch.Index == first.Branch })
		}
	}
	for _, branch := range unseen {
		f.add(shadowedViolation(branch))
	}
}

func shadowedViolation(branch routing.Branch) Violation {
	return Violation{
		Message:  "this branch never decides: for every input for which it holds, an earlier branch holds too",
		Location: &branch.Location,
	}
}

// anyCould reports whether the constant part of some branch agrees with the answer.
func anyCould(branches []routing.Branch, a answer) bool {
	if a.code != "" {
		return a.isRefused() && len(branches) > 0
	}
	for _, branch := range branches {
		says := branch.Decision
		if says == nil || (says.NextAction == "" || says.NextAction == a.decision.NextAction) && (says.Reason == "" || says.Reason == a.decision.Reason) {
			return true
		}
	}
	return false
}

// checkStuckFirst requires stuck to be the strongest destination of the precedence.
func (c *checker) checkStuckFirst() {
	f := c.found[StuckStrongest]
	f.checked++
	if c.precedence[0] != routing.Stuck {
		f.add(Violation{Message: fmt.Sprintf("the precedence has %q before %q", c.precedence[0], routing.Stuck)})
	}
}

// checkCategories checks the route table against the raised categories.
func (c *checker) checkCategories(raised map[string][]string) {
	inTable, known := c.found[CategoryRaised], c.found[CategoryKnown]
	if raised == nil {
		inTable.skipped = "only the latest version is compared with the categories that are raised"
		known.skipped = inTable.skipped
		return
	}
	for _, category := range slices.Sorted(maps.Keys(c.policy.RouteTable())) {
		inTable.checked++
		if len(raised[category]) == 0 && category != finding.CategoryContradiction {
			row, _ := c.policy.RouteLocation(category)
			inTable.add(Violation{Message: fmt.Sprintf("nothing raises %q", category), Location: &row})
		}
	}
	for _, category := range slices.Sorted(maps.Keys(raised)) {
		known.checked++
		if _, ok := c.policy.Route(category); !ok {
			by := slices.Sorted(slices.Values(raised[category]))
			known.add(Violation{Message: fmt.Sprintf("%q, raised by %s, has no route", category, strings.Join(by, ", "))})
		}
	}
}
