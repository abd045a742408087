// Package explain explains a policy's decision: the rule that made it, the rules it
// outranked, and the smallest changes of the input that would have changed it.
//
// It does no I/O, and uses the clock only to end a search with a slow policy: otherwise
// the same policy and input always give the same Explanation.
package explain

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Explanation explains a decision. It is read-only once it has been returned.
type Explanation struct {
	Input    routing.Input    `json:"input"`
	Decision routing.Decision `json:"decision"`
	// Bar explains the bar of the review. It is nil for a policy without the rule bar.
	Bar *Bar `json:"bar,omitzero"`
	// Rule is the branch of rule decision that decided, or nil if no single branch did.
	Rule *routing.Branch `json:"rule,omitzero"`
	// Outranked lists the branches after Rule that matched too, in evaluation order.
	Outranked []Outranked `json:"outranked"`
	// Waiting lists the destinations with findings that the decision did not choose,
	// strongest first.
	Waiting []Waiting `json:"weaker"`
	// Counterfactuals lists the smallest changes that lead to another destination, at most
	// MaxCounterfactuals. All have the same cost. Changes that a user can make come first.
	Counterfactuals []Counterfactual `json:"flips"`
	// ReachableBy lists for each other destination the smallest change by which a user can
	// lead the task there: fewer findings, a green verification, a higher cap. It omits
	// destinations that cannot be reached this way, and is ordered by cost.
	ReachableBy []Counterfactual `json:"ways"`
	// Tried is the number of inputs that the search decided.
	Tried int `json:"tried"`
	// GaveUp reports whether the search ended at a limit: MaxTried inputs, SearchTime, or
	// an input on which the policy timed out. Then changes may be missing.
	GaveUp bool `json:"gave_up"`
}

// Outranked is a branch of rule decision that matched but did not decide.
type Outranked struct {
	Rule routing.Branch `json:"rule"`
	// Decision is the decision of the branch.
	Decision routing.Decision `json:"decision"`
}

// Waiting is a destination that has findings but was not chosen.
type Waiting struct {
	Destination string `json:"destination"`
	Findings    int    `json:"findings"`
}

// Explain decides in again and explains the decision. Its search makes dozens of further
// decisions, seldom more than a thousand.
//
// # Errors
//
// Errors from the methods Decide and Branches of routing.Policy.
func Explain(ctx context.Context, p *routing.Policy, in routing.Input) (Explanation, error) {
	decision, err := p.Decide(ctx, in)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Input: in, Decision: decision, Waiting: weaker(p, in, decision)}
	if err := e.setBranches(ctx, p); err != nil {
		return Explanation{}, err
	}
	s := search{policy: p, in: in, decision: decision}
	dimensions := dimensionsOf(p, in)
	ctx, stop := context.WithTimeoutCause(ctx, SearchTime, errTimeUp)
	defer stop()
	if e.Counterfactuals, err = s.smallest(ctx, dimensions); err != nil {
		return Explanation{}, err
	}
	if e.ReachableBy, err = s.reachable(ctx, dimensions); err != nil {
		return Explanation{}, err
	}
	e.Tried, e.GaveUp = s.tried, s.gaveUp
	return e, nil
}

// Decision is Explain, and also explains the bar for barInput, unless that is nil.
func Decision(ctx context.Context, p *routing.Policy, in routing.Input, barInput *routing.Input) (*Explanation, error) {
	x, err := Explain(ctx, p, in)
	if err == nil && barInput != nil {
		x.Bar, err = ExplainBar(ctx, p, *barInput)
	}
	if err != nil {
		return nil, err
	}
	return &x, nil
}

// setBranches sets Rule and Outranked. It leaves them empty if the first matching branch
// disagrees with the policy's decision.
func (e *Explanation) setBranches(ctx context.Context, p *routing.Policy) error {
	branches, err := p.Branches(ctx, routing.DecisionRule)
	if err != nil {
		return err
	}
	matches, err := branches.Matching(ctx, e.Input)
	if err != nil {
		return err
	}
	if len(matches) == 0 || matches[0].Decision != e.Decision {
		return nil
	}
	all := branches.All()
	e.Rule = new(all[matches[0].Branch])
	for _, h := range matches[1:] {
		e.Outranked = append(e.Outranked, Outranked{all[h.Branch], h.Decision})
	}
	return nil
}

// weaker lists the destinations with findings, except the task's destination.
func weaker(p *routing.Policy, in routing.Input, d routing.Decision) []Waiting {
	var list []Waiting
	for _, name := range p.Precedence() {
		if n := in.Routes[name]; n > 0 && name != d.NextAction {
			list = append(list, Waiting{name, n})
		}
	}
	return list
}
