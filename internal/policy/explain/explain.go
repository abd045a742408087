// Package explain explains a policy's decision: the rule that made it, what that
// rule outranked, and the smallest changes of the input that would have flipped
// it.
//
// It does no I/O, and looks at the clock only to end a search that a slow policy draws
// out: else the same policy and input always give the same Explanation.
package explain

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Explanation is why a task goes where it goes. It is read-only once it has been
// returned.
type Explanation struct {
	Input    routing.Input    `json:"input"`
	Decision routing.Decision `json:"decision"`
	// Rule is the branch of rule decision that decided. It is nil if no single
	// branch can be named.
	Rule *routing.Branch `json:"rule,omitzero"`
	// Outranked are the branches behind Rule that held too, in the order in which
	// they would have been tried.
	Outranked []Outranked `json:"outranked"`
	// Waiting are the destinations with findings that the decision passed over,
	// strongest first.
	Waiting []Waiting `json:"weaker"`
	// Counterfactuals are the smallest changes that lead elsewhere. All have the same cost,
	// the least that was found; those that a user can bring about come first. They
	// are at most MaxCounterfactuals.
	Counterfactuals []Counterfactual `json:"flips"`
	// ReachableBy has for each other destination the smallest change that leads there, of
	// changes that a user can bring about: findings settled, a green verification,
	// a higher cap. A destination that they do not lead to is missing. They are in
	// order of their cost.
	ReachableBy []Counterfactual `json:"ways"`
	// Tried is the number of inputs that were decided in search of them.
	Tried int `json:"tried"`
	// GaveUp says that the search ended at its bound, which is MaxTried inputs, SearchTime,
	// or an input on which the policy ran over its time. Then there may be a change
	// that is not listed.
	GaveUp bool `json:"gave_up"`
}

// Outranked is a branch of rule decision that held and did not decide.
type Outranked struct {
	Rule routing.Branch `json:"rule"`
	// Decision is what it would have decided.
	Decision routing.Decision `json:"decision"`
}

// Waiting is a destination that has findings and is not where the task goes.
type Waiting struct {
	Destination string `json:"destination"`
	Findings    int    `json:"findings"`
}

// Explain decides in again and says why. It makes some dozens of decisions more
// in search of changes, and seldom more than a thousand.
//
// # Errors
//
// Those of Decide and of Branches, both of routing.Policy: a policy that comes to
// no decision has none to explain.
func Explain(ctx context.Context, p *routing.Policy, in routing.Input) (Explanation, error) {
	decision, err := p.Decide(ctx, in)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Input: in, Decision: decision, Waiting: weaker(p, in, decision)}
	if err := e.matching(ctx, p); err != nil {
		return Explanation{}, err
	}
	s := search{policy: p, in: in, decision: decision}
	dimensions := dimensionsOf(p, in)
	ctx, stop := context.WithTimeoutCause(ctx, SearchTime, errTimeUp)
	defer stop()
	if e.Counterfactuals, err = s.flips(ctx, dimensions); err != nil {
		return Explanation{}, err
	}
	if e.ReachableBy, err = s.ways(ctx, dimensions); err != nil {
		return Explanation{}, err
	}
	e.Tried, e.GaveUp = s.tried, s.gaveUp
	return e, nil
}

// matching finds the branch that decided and those behind it. If the first branch
// that holds decides otherwise than the policy, none is named: a wrong one would
// be worse.
func (e *Explanation) matching(ctx context.Context, p *routing.Policy) error {
	branches, err := p.Branches(ctx)
	if err != nil {
		return err
	}
	held, err := branches.Matching(ctx, e.Input)
	if err != nil {
		return err
	}
	if len(held) == 0 || held[0].Decision != e.Decision {
		return nil
	}
	all := branches.All()
	e.Rule = &all[held[0].Branch]
	for _, h := range held[1:] {
		e.Outranked = append(e.Outranked, Outranked{all[h.Branch], h.Decision})
	}
	return nil
}

// weaker lists the destinations with findings but the one that the task goes to.
func weaker(p *routing.Policy, in routing.Input, d routing.Decision) []Waiting {
	var list []Waiting
	for _, name := range p.Precedence() {
		if n := in.Routes[name]; n > 0 && name != d.NextAction {
			list = append(list, Waiting{name, n})
		}
	}
	return list
}
