package routing_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// ranked is the oracle's own precedence, independent of the policies.
var ranked = []string{"stuck", "askuser", "plan-checker", "researcher", "executor"}

// endsStalls reports which versions stop a task that makes no progress.
var endsStalls = map[string]bool{"routing@1.0.0": false, "routing@1.1.0": false, "routing@1.2.0": true, "routing@1.3.0": true}

// hasBar reports which versions have a bar, and use facts.
var hasBar = map[string]bool{"routing@1.3.0": true}

// oracle returns a version's expected decision. It is written from the rules of ADR-0001,
// ADR-0003 and ADR-0024 and shares nothing with the Rego.
func oracle(ref string, in routing.Input) routing.Decision {
	var facts routing.Facts
	if hasBar[ref] && in.Facts != nil {
		facts = *in.Facts
	}
	findings := 0
	for _, n := range in.Routes {
		findings += n
	}
	if findings == 0 && in.Verify != routing.Red {
		return routing.Decision{NextAction: "commit", Reason: "no-findings"}
	}
	if in.Routes["stuck"] > 0 {
		return routing.Decision{NextAction: "stuck", Reason: "stuck-finding"}
	}
	if in.Round >= in.MaxRounds && !facts.MayExtend {
		return routing.Decision{NextAction: "stuck", Reason: "max-rounds"}
	}
	if endsStalls[ref] && in.StalledRounds > 1 && in.Routes["askuser"] == 0 {
		return routing.Decision{NextAction: "stuck", Reason: "no-progress"}
	}
	strongest := "executor"
	for _, name := range slices.Backward(ranked) {
		if in.Routes[name] > 0 {
			strongest = name
		}
	}
	switch {
	case facts.InducedRounds >= 3 && strongest != "askuser":
		return routing.Decision{NextAction: "askuser", Reason: "churn"}
	case facts.InducedRounds == 2 && strongest != "askuser" && strongest != "plan-checker":
		return routing.Decision{NextAction: "plan-checker", Reason: "churn"}
	case findings == 0:
		return routing.Decision{NextAction: "executor", Reason: "verify-red"}
	}
	return routing.Decision{NextAction: strongest, Reason: "routed"}
}

// barOracle returns the expected bar of routing 1.3.0.
func barOracle(in routing.Input) routing.Bar {
	var facts routing.Facts
	left := min(2*in.MaxRounds, routing.MaxRoundsLimit) - in.Round
	blocking := in.FindingCount
	if in.Facts != nil {
		facts, left, blocking = *in.Facts, in.RoundsLeft, in.BlockingCount
	}
	minor := in.FindingCount > 0 && blocking == 0
	switch {
	case facts.ReviewsSinceLow > 2:
		return routing.BarFail
	case facts.ReviewsSinceLow == 2, facts.InducedRounds > 1,
		(in.Round > 4 || in.Round > 1 && left < 2) && (minor || facts.ReviewsSinceLow == 1):
		return routing.BarRisk
	}
	return routing.BarAll
}

// pasts returns the ways a review can compare with earlier ones, for any number of
// findings.
func pasts(in routing.Input) []routing.Input {
	n := in.FindingCount
	resolved := withPast(in, routing.Input{NewCount: n, ResolvedCount: 1})
	if n == 0 {
		return []routing.Input{in, resolved}
	}
	all := []routing.Input{
		in, resolved,
		withPast(in, routing.Input{ReopenedCount: n}),
		withPast(in, routing.Input{RepeatCount: n, ResolvedCount: 2}),
	}
	for _, rounds := range []int{1, 2, 3, 100} {
		all = append(all, withPast(in, routing.Input{RepeatCount: n, NoProgress: true, StalledRounds: rounds}))
	}
	return all
}

// withPast returns in with the comparison fields of past.
func withPast(in, past routing.Input) routing.Input {
	in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount = past.NewCount, past.RepeatCount, past.ReopenedCount, past.ResolvedCount
	in.NoProgress, in.StalledRounds = past.NoProgress, past.StalledRounds
	return in
}

// The oracle covers every version, so that no version is checked against another's rules.
func TestTheOracleKnowsEveryVersion(t *testing.T) {
	for _, ref := range policies.Versions() {
		if _, known := endsStalls[ref]; !known {
			t.Errorf("endsStalls does not say what %s does", ref)
		}
		if p := load(t, ref); p.HasBar() != hasBar[ref] {
			t.Errorf("hasBar does not say what %s does", ref)
		}
	}
}

// reviewedInputs returns in with the facts that rules of routing 1.3.0 compare.
func reviewedInputs(in routing.Input) []routing.Input {
	var all []routing.Input
	for _, hard := range []int{in.MaxRounds, min(2*in.MaxRounds, routing.MaxRoundsLimit)} {
		for _, blocking := range []int{0, in.FindingCount} {
			for n := range 4 {
				facts := routing.Facts{
					HardCap: hard, RoundsLeft: max(hard-in.Round, 0), BlockingCount: blocking, InducedCount: &blocking,
					FirstTimeCount: in.FindingCount, Confinement: confinement.None,
				}
				facts.MayExtend = n%2 == 1 && facts.RoundsLeft > 0 && in.Productive()
				if blocking > 0 {
					facts.InducedRounds = n
				} else if in.FindingCount > 0 {
					facts.ReviewsSinceLow = n
				}
				in.Facts = &facts
				all = append(all, in)
			}
		}
	}
	return all
}

// everyInput visits every combination that a decision can depend on: destinations with
// findings, verification result, cap reached, stalled rounds, and facts.
func everyInput(p *routing.Policy, visit func(routing.Input)) {
	rounds := [][2]int{{1, 3}, {2, 3}, {3, 3}, {4, 3}, {1, 1}, {2, 1}, {99, 100}, {100, 100}}
	for set := range 1 << len(ranked) {
		routes := make(map[string]int)
		for i, name := range ranked {
			routes[name] = set >> i & 1
		}
		for _, verify := range []routing.Verify{routing.Green, routing.Red, routing.Absent} {
			for _, r := range rounds {
				for _, past := range pasts(input(r[0], r[1], verify, routes)) {
					visit(past)
					if !p.HasBar() {
						continue
					}
					for _, in := range reviewedInputs(past) {
						visit(in)
					}
				}
			}
		}
	}
}

func TestDecisionsMatchTheOracleExhaustively(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		everyInput(p, func(in routing.Input) { expect(t, p, in) })
	}
}

// The number of findings does not matter, only whether there are any.
func TestDecisionsMatchTheOracleForAnyCounts(t *testing.T) {
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		rapid.Check(t, func(t *rapid.T) {
			expect(t, p, anyInput(t))
		})
	}
}

func TestBarsMatchTheOracle(t *testing.T) {
	p := load(t, policies.Default)
	compare := func(t rapid.TB, in routing.Input) {
		t.Helper()
		if got, err := p.Bar(context.Background(), in); err != nil || got != barOracle(in) {
			t.Fatalf("%+v with %+v: got %q, %v, want %q", in, in.Facts, got, err, barOracle(in))
		}
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, anyInput(t)) })
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	everyInput(p, func(in routing.Input) { compare(t, in) })
}

// anyInput draws a consistent input, with facts or without.
func anyInput(t *rapid.T) routing.Input {
	in := anyReview(t)
	if rapid.Bool().Draw(t, "facts") {
		in.Facts = anyFacts(t, in)
	}
	return in
}

func anyFacts(t *rapid.T, in routing.Input) *routing.Facts {
	f := routing.Facts{
		HardCap:        rapid.IntRange(in.MaxRounds, routing.MaxRoundsLimit).Draw(t, "hard_cap"),
		BlockingCount:  rapid.IntRange(0, in.FindingCount).Draw(t, "blocking_count"),
		DeferredCount:  rapid.IntRange(0, 1000).Draw(t, "deferred_count"),
		FirstTimeCount: rapid.IntRange(0, in.FindingCount).Draw(t, "first_time_count"),
		Confinement:    rapid.SampledFrom(confinement.Levels()).Draw(t, "confinement"),
	}
	f.RoundsLeft = max(f.HardCap-in.Round, 0)
	if f.RoundsLeft > 0 && in.Productive() {
		f.MayExtend = rapid.Bool().Draw(t, "may_extend")
	}
	if f.FirstTimeCount > 0 {
		f.ReviewsSinceLow = rapid.IntRange(0, 5).Draw(t, "reviews_since_low")
	}
	if rapid.Bool().Draw(t, "induced is known") {
		induced := rapid.IntRange(0, in.FindingCount).Draw(t, "induced_count")
		f.InducedCount = &induced
		if f.BlockingCount > 0 && induced >= f.BlockingCount {
			f.InducedRounds = rapid.IntRange(0, 5).Draw(t, "induced_rounds")
		}
	}
	return &f
}

// anyReview draws a consistent input without facts.
func anyReview(t *rapid.T) routing.Input {
	in := input(
		rapid.IntRange(1, 200).Draw(t, "round"),
		rapid.IntRange(1, routing.MaxRoundsLimit).Draw(t, "max_rounds"),
		rapid.SampledFrom([]routing.Verify{routing.Green, routing.Red, routing.Absent}).Draw(t, "verify"),
		rapid.MapOf(rapid.SampledFrom(ranked), rapid.IntRange(0, 1_000_000)).Draw(t, "routes"),
	)
	if in.FindingCount > 0 && rapid.Bool().Draw(t, "no_progress") {
		return withPast(in, routing.Input{
			RepeatCount: in.FindingCount, NoProgress: true, StalledRounds: rapid.IntRange(1, 200).Draw(t, "stalled_rounds"),
		})
	}
	repeat := rapid.IntRange(0, in.FindingCount).Draw(t, "repeat_count")
	reopened := rapid.IntRange(0, in.FindingCount-repeat).Draw(t, "reopened_count")
	resolved := rapid.IntRange(0, 1000).Draw(t, "resolved_count")
	if repeat == in.FindingCount {
		resolved++ // otherwise it would be no progress
	}
	return withPast(in, routing.Input{
		NewCount: in.FindingCount - repeat - reopened, RepeatCount: repeat, ReopenedCount: reopened, ResolvedCount: resolved,
	})
}

func expect(t rapid.TB, p *routing.Policy, in routing.Input) {
	t.Helper()
	got, err := p.Decide(context.Background(), in)
	if err != nil {
		t.Fatalf("%s: %+v: %v", p, in, err)
	}
	if want := oracle(p.String(), in); got != want {
		t.Errorf("%s: %+v: got %+v, want %+v", p, in, got, want)
	}
}

// input returns a round whose findings are all new.
func input(round, maxRounds int, verify routing.Verify, routes map[string]int) routing.Input {
	count := 0
	for _, n := range routes {
		count += n
	}
	return routing.Input{
		Round: round, MaxRounds: maxRounds, FindingCount: count, Routes: routes, Verify: verify, NewCount: count,
	}
}

// clean returns a round without open work.
func clean() routing.Input { return input(1, 3, routing.Green, nil) }

func TestDecideRefusesInputThatContradictsItself(t *testing.T) {
	p := load(t, policies.Default)
	for name, change := range map[string]func(*routing.Input){
		"round 0":                func(in *routing.Input) { in.Round = 0 },
		"no cap":                 func(in *routing.Input) { in.MaxRounds = 0 },
		"cap over the limit":     func(in *routing.Input) { in.MaxRounds = routing.MaxRoundsLimit + 1 },
		"negative finding_count": func(in *routing.Input) { in.FindingCount = -1 },
		"no verify":              func(in *routing.Input) { in.Verify = "" },
		"verify in upper case":   func(in *routing.Input) { in.Verify = "GREEN" },
		"findings not routed":    func(in *routing.Input) { in.FindingCount = 1 },
		"routed but not counted": func(in *routing.Input) { in.Routes = map[string]int{"executor": 1} },
		"negative route":         func(in *routing.Input) { in.Routes = map[string]int{"executor": -1, "researcher": 1} },
		"sum that would overflow": func(in *routing.Input) {
			in.Routes = map[string]int{"executor": 1 << 62, "askuser": 1 << 62, "stuck": 1 << 62, "researcher": 1 << 62}
		},
		"undeclared destination":   func(in *routing.Input) { in.FindingCount, in.Routes = 1, map[string]int{"nowhere": 1} },
		"undeclared, without any":  func(in *routing.Input) { in.Routes = map[string]int{"nowhere": 0} },
		"a finding sent to commit": func(in *routing.Input) { in.FindingCount, in.Routes = 1, map[string]int{"commit": 1} },
	} {
		t.Run(name, func(t *testing.T) {
			in := clean()
			change(&in)
			d, err := p.Decide(t.Context(), in)
			wantCode(t, err, errs.PolicyInvalidInput)
			if d != (routing.Decision{}) {
				t.Errorf("a decision came with the error: %+v", d)
			}
		})
	}
}

func TestDecideIsSafeForConcurrentUse(t *testing.T) {
	p := load(t, policies.Default)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				routes := map[string]int{ranked[(i+j)%len(ranked)]: 1}
				in := input(1+j%4, 3, routing.Red, routes)
				if got, err := p.Decide(t.Context(), in); err != nil || got != oracle(policies.Default, in) {
					t.Errorf("%+v: got %+v, %v", in, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestDecideKeepsItsInputAsItIs(t *testing.T) {
	p := load(t, policies.Default)
	routes := map[string]int{"executor": 2, "askuser": 0}
	before := maps.Clone(routes)
	if _, err := p.Decide(t.Context(), input(1, 3, routing.Green, routes)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(routes, before) {
		t.Errorf("routes became %v", routes)
	}
}

func TestStrongestFollowsThePrecedence(t *testing.T) {
	p := load(t, policies.Default)
	if got := p.Precedence(); !slices.Equal(got, ranked) {
		t.Fatalf("precedence is %v, want %v", got, ranked)
	}
	routes := map[string]int{"commit": 9} // never a destination of findings
	if got := p.Strongest(routes); got != "" {
		t.Errorf("Strongest of nothing = %q", got)
	}
	for _, name := range slices.Backward(ranked) {
		routes[name] = 1
		if got := p.Strongest(routes); got != name {
			t.Errorf("Strongest(%v) = %q, want %q", routes, got, name)
		}
	}
}

// wantCode fails unless err has that code and a one-line message.
func wantCode(t *testing.T, err error, want errs.Code) *errs.Error {
	t.Helper()
	f := asFault(err)
	if f == nil {
		t.Fatalf("got %v, want a fault %s", err, want)
	}
	if f.Code != want {
		t.Fatalf("code is %s (%v), want %s", f.Code, err, want)
	}
	for _, r := range f.Message {
		if r == '\n' {
			t.Errorf("the message has more than one line: %q", f.Message)
		}
	}
	return f
}
