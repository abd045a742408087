package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// CauseKind names a kind of Cause.
type CauseKind string

// The kinds of causes.
const (
	// CauseRerouted: both policies know the category and send it to different
	// destinations.
	CauseRerouted CauseKind = "rerouted"
	// CauseKnown: the category is new to the candidate's table.
	CauseKnown CauseKind = "category-known"
	// CauseUnknown: the category is missing from the candidate's table.
	CauseUnknown CauseKind = "category-unknown"
	// CausePrecedence: both policies follow their precedence, and a different destination
	// with findings is the strongest.
	CausePrecedence CauseKind = "precedence"
	// CauseBar: the candidate's bar defers other findings.
	CauseBar CauseKind = "bar"
	// CauseConfinement: the candidate would decide as recorded if the reports had been fully
	// confined.
	CauseConfinement CauseKind = "confinement"
	// CauseRules: the candidate's rules decide differently even if the findings keep
	// their recorded destinations.
	CauseRules CauseKind = "rules"
)

// Cause is one difference between the policies that explains a changed decision. A
// changed decision has at least one.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Category is the rerouted category, with its number of Findings in the round and its
	// destinations From and To. For CausePrecedence, From and To are the strongest
	// destinations before and now; for CauseBar they are the bars, and Findings counts the
	// deferred findings; for CauseConfinement, From is the recorded level. All other fields
	// are empty.
	Category string `json:"category,omitzero"`
	Findings int    `json:"findings,omitzero"`
	From     string `json:"from,omitzero"`
	To       string `json:"to,omitzero"`
	// Was and Now are the rules that decided, for CauseRules; CauseConfinement has only Now.
	// Was is nil if the recorded policy is unavailable, and Now if the candidate made no
	// decision.
	Was *routing.Location `json:"was,omitzero"`
	Now *routing.Location `json:"now,omitzero"`
}

// String describes the cause in words.
func (c Cause) String() string {
	switch c.Kind {
	case CauseRerouted:
		return fmt.Sprintf("%s goes to %s, not to %s", c.Category, c.To, c.From)
	case CauseKnown:
		return fmt.Sprintf("%s is known now, and goes to %s", c.Category, c.To)
	case CauseUnknown:
		return fmt.Sprintf("%s is not known any more", c.Category)
	case CausePrecedence:
		return fmt.Sprintf("%s outranks %s now", c.To, c.From)
	case CauseBar:
		return fmt.Sprintf("the bar is %s, not %s, and defers %s", c.To, c.From, textutil.Count(c.Findings, "finding"))
	}
	switch {
	case c.Kind == CauseConfinement:
		return fmt.Sprintf("%s decides, at confinement %s", at(*c.Now), c.From)
	case c.Was != nil && c.Now != nil:
		return fmt.Sprintf("%s decides, not %s", at(*c.Now), at(*c.Was))
	case c.Now != nil:
		return at(*c.Now) + " decides"
	default:
		return "the rules differ"
	}
}

func at(p routing.Location) string { return fmt.Sprintf("%s:%d", p.File, p.Row) }

// causes returns the causes of a changed decision.
func (y *Replay) causes(ctx context.Context, r Recorded, now Outcome) ([]Cause, error) {
	causes := y.rerouted(r)
	if c, ok := barCause(r, now); ok {
		causes = append(causes, c)
	}
	// Decide again about the recorded routes of the open findings, to see whether the rules
	// by themselves change the decision.
	in := r.Input
	if f := now.Input.Facts; f != nil && in.Facts == nil {
		in = withFacts(in, *f, 0)
	}
	was, err := y.decider.decide(ctx, in)
	if err != nil || was.Decision.NextAction == r.Decision.NextAction {
		return causes, err
	}
	before, err := y.find(ctx, r.Policy.Digest)
	if err != nil {
		return nil, err
	}
	from, to := r.Decision.NextAction, was.Decision.NextAction
	if before != nil && before.Strongest(r.Input.Routes) == from && y.decider.policy.Strongest(r.Input.Routes) == to {
		return append(causes, Cause{Kind: CausePrecedence, From: from, To: to}), nil
	}
	c := Cause{Kind: CauseRules}
	if c.Now, err = rule(ctx, y.decider.policy, now.Input); err != nil {
		return nil, err
	}
	if in.Facts != nil && c.Now != nil {
		facts, level := *in.Facts, string(in.Confinement)
		facts.Confinement = confinement.Network
		in.Facts = &facts
		if was, err = y.decider.decide(ctx, in); err != nil {
			return nil, err
		}
		if was.Decision.NextAction == r.Decision.NextAction {
			return append(causes, Cause{Kind: CauseConfinement, From: level, Now: c.Now}), nil
		}
	}
	if before != nil {
		if c.Was, err = rule(ctx, before, r.Input); err != nil {
			return nil, err
		}
	}
	return append(causes, c), nil
}

// barCause returns the cause if the candidate's bar defers other findings than the recorded
// bar.
func barCause(r Recorded, now Outcome) (Cause, bool) {
	c := Cause{
		Kind: CauseBar, Findings: deferredCount(now.Input),
		From: string(cmp.Or(r.Bar, routing.BarAll)), To: string(cmp.Or(now.Bar, routing.BarAll)),
	}
	return c, c.From != c.To && c.Findings != deferredCount(r.Input)
}

// deferredCount returns the number of deferred findings, which is 0 without facts.
func deferredCount(in routing.Input) int {
	if in.Facts == nil {
		return 0
	}
	return in.DeferredCount
}

// rerouted returns the categories of a round that the candidate sends elsewhere.
func (y *Replay) rerouted(r Recorded) []Cause {
	var causes []Cause
	for _, c := range r.Categories {
		to, known := y.decider.policy.Route(c.Name)
		kind := CauseRerouted
		switch {
		case to == c.Route && known == !c.Unknown:
			continue
		case c.Unknown && known:
			kind = CauseKnown
		case !c.Unknown && !known:
			kind = CauseUnknown
		}
		cause := Cause{Kind: kind, Category: c.Name, Findings: c.Count, From: c.Route, To: to}
		same := func(other Cause) bool {
			return other.Kind == kind && other.Category == c.Name && other.From == c.Route
		}
		if i := slices.IndexFunc(causes, same); i >= 0 {
			causes[i].Findings += c.Count
			continue
		}
		causes = append(causes, cause)
	}
	return causes
}

// rule returns the location of the rule that decides an input, or nil if no rule matches.
func rule(ctx context.Context, p *routing.Policy, in routing.Input) (*routing.Location, error) {
	branches, err := p.Branches(ctx, routing.DecisionRule)
	if err != nil {
		return nil, err
	}
	matches, err := branches.Matching(ctx, in)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(matches) == 0 {
		return nil, nil // the report shows that the policy makes no decision
	}
	return new(branches.All()[matches[0].Branch].Location), nil
}
