package explain_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

var verifies = []routing.Verify{routing.Green, routing.Red, routing.Absent}

// Every counterfactual changes the decision, and no cheaper elementary change does.
func TestFlipsFlipAndNothingSmallerDoes(t *testing.T) {
	p := load(t)
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t, p.Precedence(), 6)
		e := explained(t, p, in)
		checkCounterfactuals(t, p, e)
		if len(e.Counterfactuals) == 0 {
			t.Fatalf("%+v: nothing flips", in)
		}
		least := e.Counterfactuals[0].Cost
		for _, s := range singles(in, p.Precedence()) {
			d, err := p.Decide(t.Context(), s.in)
			if err != nil {
				t.Fatalf("%+v: %v", s.in, err)
			}
			if d.NextAction != e.Decision.NextAction && s.cost < least {
				t.Fatalf("%+v: the least cost is %d, but %+v goes to %s for %d", in, least, s.in, d.NextAction, s.cost)
			}
		}
	})
}

func explained(t *rapid.T, p *routing.Policy, in routing.Input) explain.Explanation {
	before := maps.Clone(in.Routes)
	e, err := explain.Explain(t.Context(), p, in)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	if !maps.Equal(in.Routes, before) {
		t.Fatalf("the routes became %v, were %v", in.Routes, before)
	}
	if e.GaveUp {
		t.Fatalf("%+v: gave up", in)
	}
	return e
}

// checkCounterfactuals checks an explanation's counterfactuals against the policy.
func checkCounterfactuals(t interface {
	rapid.TB
	Context() context.Context
}, p *routing.Policy, e explain.Explanation) {
	if len(e.Counterfactuals) > explain.MaxCounterfactuals {
		t.Fatalf("%d flips", len(e.Counterfactuals))
	}
	reached := make(map[string]bool)
	for i, f := range slices.Concat(e.Counterfactuals, e.ReachableBy) {
		d, err := p.Decide(t.Context(), f.Input)
		if err != nil {
			t.Fatalf("%s: %v", f.Words(), err)
		}
		cost := 0
		for _, c := range f.Changes {
			if c.Count != nil {
				cost += max(c.Count.To-c.Count.From, c.Count.From-c.Count.To)
			} else {
				cost++
			}
		}
		switch way := i >= len(e.Counterfactuals); {
		case d != f.Decision:
			t.Fatalf("%s: decided %+v, said %+v", f.Words(), d, f.Decision)
		case d.NextAction == e.Decision.NextAction:
			t.Fatalf("%s: does not flip %+v", f.Words(), d)
		case cost != f.Cost || cost == 0:
			t.Fatalf("%s: costs %d, said %d", f.Words(), cost, f.Cost)
		case !way && f.Cost != e.Counterfactuals[0].Cost:
			t.Fatalf("flips of different cost: %d and %d", f.Cost, e.Counterfactuals[0].Cost)
		case way && f.Cost < e.Counterfactuals[0].Cost:
			t.Fatalf("%s: a way for %d, but flips cost %d", f.Words(), f.Cost, e.Counterfactuals[0].Cost)
		case way && reached[d.NextAction]:
			t.Fatalf("two ways to %s", d.NextAction)
		case way:
			reached[d.NextAction] = true
		}
	}
}

// single is an input that differs from another in one respect.
type single struct {
	in   routing.Input
	cost int
}

// singles returns all of them for a policy that compares only the round with the cap, the
// length of a stall, and counts with 0.
func singles(in routing.Input, destinations []string) []single {
	var all []single
	for _, name := range destinations {
		n := in.Routes[name]
		for to := range n + 3 {
			if to == n {
				continue
			}
			other := in
			other.Routes = maps.Clone(in.Routes)
			other.Routes[name] = to
			other.FindingCount += to - n
			if to > n {
				other.NewCount += to - n
			}
			for range n - to { // repeats first, then reopened ones
				switch {
				case other.RepeatCount > 0:
					other.RepeatCount--
					other.ResolvedCount++
				case other.ReopenedCount > 0:
					other.ReopenedCount--
				default:
					other.NewCount--
				}
			}
			all = append(all, single{settled(other), max(to-n, n-to)})
		}
	}
	for _, v := range verifies {
		if v != in.Verify {
			other := in
			other.Verify = v
			all = append(all, single{other, 1})
		}
	}
	for to := 1; to <= routing.MaxRoundsLimit; to++ {
		other := in
		other.MaxRounds = to
		if to != in.MaxRounds {
			all = append(all, single{other, max(to-in.MaxRounds, in.MaxRounds-to)})
		}
	}
	if in.NoProgress {
		other := in
		other.RepeatCount--
		other.NewCount++
		all = append(all, single{settled(other), 1})
		for to := 1; to < in.StalledRounds+4; to++ {
			other := in
			other.StalledRounds = to
			if to != in.StalledRounds {
				all = append(all, single{other, max(to-in.StalledRounds, in.StalledRounds-to)})
			}
		}
	}
	return all
}

// settled returns in with its stall cleared if there was progress.
func settled(in routing.Input) routing.Input {
	if in.FindingCount == 0 || in.RepeatCount < in.FindingCount || in.ResolvedCount > 0 {
		in.NoProgress, in.StalledRounds = false, 0
	}
	return in
}

// anyInput draws a consistent input.
func anyInput(t *rapid.T, destinations []string, most int) routing.Input {
	in := routing.Input{
		Round:     rapid.IntRange(1, 8).Draw(t, "round"),
		MaxRounds: rapid.IntRange(1, 8).Draw(t, "max_rounds"),
		Verify:    rapid.SampledFrom(verifies).Draw(t, "verify"),
		Routes:    make(map[string]int),
	}
	for _, name := range destinations {
		if rapid.Bool().Draw(t, "has "+name) {
			n := rapid.IntRange(1, most).Draw(t, name)
			in.Routes[name] = n
			in.FindingCount += n
		}
	}
	if in.FindingCount > 0 && rapid.Bool().Draw(t, "no_progress") {
		return stalled(in, rapid.IntRange(1, 5).Draw(t, "stalled_rounds"))
	}
	in.RepeatCount = rapid.IntRange(0, in.FindingCount).Draw(t, "repeat_count")
	in.ReopenedCount = rapid.IntRange(0, in.FindingCount-in.RepeatCount).Draw(t, "reopened_count")
	in.NewCount = in.FindingCount - in.RepeatCount - in.ReopenedCount
	in.ResolvedCount = rapid.IntRange(0, 2).Draw(t, "resolved_count")
	if in.RepeatCount == in.FindingCount {
		in.ResolvedCount++ // otherwise it would be no progress
	}
	return in
}

// counting is a policy that ignores the past and compares its numbers with constants above 0.
const counting = `decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	input.routes.stuck > 0
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	_work
	input.round >= input.max_rounds
} else := {"next_action": "user", "reason": "too-many"} if {
	input.finding_count > 4
} else := {"next_action": "user", "reason": "late"} if {
	input.round >= 4
	input.routes.fixer > 1
} else := {"next_action": "user", "reason": "routed"} if {
	input.routes.user > 0
} else := {"next_action": "fixer", "reason": "routed"} if {
	_work
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
}

_work if input.finding_count > 0

_work if input.verify == "red"
`

// countingAction computes its next action without the policy.
func countingAction(in routing.Input) string {
	findings := in.Routes["stuck"] + in.Routes["user"] + in.Routes["fixer"]
	work := findings > 0 || in.Verify == routing.Red
	switch {
	case in.Routes["stuck"] > 0, work && in.Round >= in.MaxRounds:
		return "stuck"
	case findings > 4, in.Round >= 4 && in.Routes["fixer"] > 1, in.Routes["user"] > 0:
		return "user"
	case work:
		return "fixer"
	default:
		return "commit"
	}
}

// Of all inputs nearby, none changes the decision at a lower cost, and none that a user
// can make reaches a destination at a lower cost than ReachableBy.
func TestNoCombinationIsSmaller(t *testing.T) {
	p := deciding(t, counting)
	destinations := p.Precedence()
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t, destinations, 3)
		e := explained(t, p, in)
		if got := countingAction(in); got != e.Decision.NextAction {
			t.Fatalf("%+v: decided %s, worked out %s", in, e.Decision.NextAction, got)
		}
		checkCounterfactuals(t, p, e)
		least := 0
		ways := make(map[string]int)
		near(in, func(other routing.Input, cost int, feasible bool) {
			to := countingAction(other)
			if to == e.Decision.NextAction {
				return
			}
			if least == 0 || cost < least {
				least = cost
			}
			if known, ok := ways[to]; feasible && (!ok || cost < known) {
				ways[to] = cost
			}
		})
		if len(e.Counterfactuals) == 0 || e.Counterfactuals[0].Cost != least {
			t.Fatalf("%+v: flips are %s, want the cost %d", in, reported(e.Counterfactuals), least)
		}
		got := make(map[string]int)
		for _, f := range e.ReachableBy {
			got[f.Decision.NextAction] = f.Cost
		}
		if !maps.Equal(got, ways) {
			t.Fatalf("%+v: ways cost %v, want %v", in, got, ways)
		}
	})
}

// near visits every input of the counting policy that is close to in.
func near(in routing.Input, visit func(other routing.Input, cost int, feasible bool)) {
	ignored := func(a, b int) int { return max(a-b, b-a) }
	for stuck := range 6 {
		for user := range 6 {
			for fixer := range 6 {
				routes := map[string]int{"stuck": stuck, "user": user, "fixer": fixer}
				fewer := stuck <= in.Routes["stuck"] && user <= in.Routes["user"] && fixer <= in.Routes["fixer"]
				cost := ignored(stuck, in.Routes["stuck"]) + ignored(user, in.Routes["user"]) + ignored(fixer, in.Routes["fixer"])
				for _, verify := range verifies {
					for round := 1; round <= 10; round++ {
						for maxRounds := 1; maxRounds <= 10; maxRounds++ {
							total := cost + ignored(round, in.Round) + ignored(maxRounds, in.MaxRounds)
							if verify != in.Verify {
								total++
							}
							visit(routing.Input{Round: round, MaxRounds: maxRounds, Routes: routes, Verify: verify}, total,
								fewer && (verify == in.Verify || verify == routing.Green) && round == in.Round && maxRounds >= in.MaxRounds)
						}
					}
				}
			}
		}
	}
}
