package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Bar explains a policy's bar.
type Bar struct {
	Input routing.Input `json:"input"`
	Bar   routing.Bar   `json:"bar"`
	// Rule is the branch of rule bar that gave it, or nil if no single branch did.
	Rule *routing.Branch `json:"rule,omitzero"`
	// Changes lists the smallest changes of one fact that give another bar. All change
	// their number by the same amount. The list is empty if the search takes longer than
	// SearchTime.
	Changes []BarChange `json:"changes"`
}

// BarChange is a change of one fact that gives another bar.
type BarChange struct {
	// Fact is the field of the input.
	Fact  string      `json:"fact"`
	Count Count       `json:"count"`
	Bar   routing.Bar `json:"bar"`
	// Words describes the change, such as "with reviews_since_low 1 in place of 2".
	Words string `json:"words"`
}

// ExplainBar evaluates the bar again and explains it.
//
// # Errors
//
// Errors from the methods Bar and Branches of routing.Policy.
func ExplainBar(ctx context.Context, p *routing.Policy, in routing.Input) (*Bar, error) {
	bar, err := p.Bar(ctx, in)
	if err != nil {
		return nil, err
	}
	e := &Bar{Input: in, Bar: bar}
	branches, err := p.Branches(ctx, routing.BarRule)
	if err != nil {
		return nil, err
	}
	matches, err := branches.Matching(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(matches) > 0 {
		e.Rule = &branches.All()[matches[0].Branch]
	}
	e.Changes, err = barChanges(ctx, p, in, bar)
	return e, err
}

// barChanges returns the smallest changes of one fact of in that give another bar.
func barChanges(ctx context.Context, p *routing.Policy, in routing.Input, bar routing.Bar) ([]BarChange, error) {
	found := []BarChange{}
	if in.Facts == nil { // a first review has no facts to change
		return found, nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, SearchTime, errTimeUp)
	defer stop()
	thresholds := p.Thresholds(routing.BarRule).Fields
	for _, fact := range slices.Sorted(maps.Keys(thresholds)) {
		is := number(&in, fact)
		if is == nil {
			continue
		}
		from := *is
		to := nearest(from, thresholds[fact])
		slices.Sort(to)
		for _, n := range slices.Compact(to) {
			changed, err := p.Bar(ctx, withNumber(in, fact, n))
			switch {
			case err == nil && changed != bar:
				words := fmt.Sprintf("with %s %d in place of %d", fact, n, from)
				found = append(found, BarChange{fact, Count{from, n}, changed, words})
			case err == nil, errs.CodeOf(err) == errs.PolicyInvalidInput:
			case context.Cause(ctx) == errTimeUp:
				return []BarChange{}, nil
			case ctx.Err() != nil:
				return nil, err
			}
		}
	}
	slices.SortStableFunc(found, func(a, b BarChange) int { return cmp.Compare(a.Count.distance(), b.Count.distance()) })
	return slices.DeleteFunc(found, func(c BarChange) bool { return c.Count.distance() > found[0].Count.distance() }), nil
}

// number returns the number of the input that a fact is, or nil if withNumber cannot change
// it.
func number(in *routing.Input, fact string) *int {
	switch fact {
	case "reviews_since_low":
		return &in.ReviewsSinceLow
	case inducedRounds:
		return &in.InducedRounds
	case "blocking_count":
		return &in.BlockingCount
	case "first_time_count":
		return &in.FirstTimeCount
	case "rounds_left":
		return &in.RoundsLeft
	case "round":
		return &in.Round
	default:
		return nil
	}
}

// withNumber returns the input with another number. The result may contradict itself.
func withNumber(in routing.Input, fact string, n int) routing.Input {
	f := *in.Facts
	in.Facts = &f
	*number(&in, fact) = n
	switch {
	case fact == "rounds_left":
		f.HardCap = in.Round + n
	case fact == inducedRounds && f.InducedCount == nil:
		f.InducedCount = &f.BlockingCount
	}
	f.RoundsLeft = max(f.HardCap-in.Round, 0)
	return in
}

// reconcile adjusts the facts of an input after a change of its other numbers, so that both
// agree.
func reconcile(in routing.Input) *routing.Facts {
	if in.Facts == nil {
		return nil
	}
	f := *in.Facts
	all := sum(in.FindingCount, f.DeferredCount)
	f.HardCap = max(f.HardCap, in.MaxRounds)
	f.RoundsLeft = max(f.HardCap-in.Round, 0)
	f.BlockingCount = min(f.BlockingCount, in.FindingCount)
	f.FirstTimeCount = min(f.FirstTimeCount, all)
	if f.InducedCount != nil {
		induced := min(*f.InducedCount, all)
		f.InducedCount = &induced
	}
	if f.FirstTimeCount == 0 {
		f.ReviewsSinceLow = 0
	}
	if f.BlockingCount == 0 {
		f.InducedRounds = 0
	}
	f.MayExtend = f.MayExtend && f.RoundsLeft > 0 && in.Productive()
	return &f
}

// factWords describes a change of a fact.
func factWords(c Change) string {
	switch {
	case c.Fact == mayExtend && c.Count.To > 0:
		return "after a productive review"
	case c.Fact == mayExtend:
		return "without a productive review"
	case c.Fact == confinementLevel:
		return "with confinement " + string(confinement.Levels()[c.Count.To])
	default:
		return "after " + textutil.Count(c.Count.To, "review") + " whose failures the fixes caused"
	}
}
