package routing_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

func ladder(t *testing.T, p *routing.Policy) *routing.Ladder {
	t.Helper()
	l, err := p.Ladder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func climb(t *testing.T, p *routing.Policy, in routing.Input) []routing.Held {
	t.Helper()
	held, err := ladder(t, p).Climb(t.Context(), in)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return held
}

// The rungs are the rows of the table in ADR-0003.
func TestRungsAreTheBranchesInTheirOrder(t *testing.T) {
	want := []routing.Decision{
		{NextAction: "stuck", Reason: "stuck-finding"},
		{NextAction: "stuck", Reason: "max-rounds"},
		{NextAction: "stuck", Reason: "no-progress"},
		{NextAction: "", Reason: "routed"}, // computed
		{NextAction: "executor", Reason: "verify-red"},
		{NextAction: "commit", Reason: "no-findings"},
	}
	rungs := ladder(t, load(t, "routing@1.2.0")).Rungs()
	if len(rungs) != len(want) {
		t.Fatalf("%d rungs, want %d", len(rungs), len(want))
	}
	row := 0
	for i, r := range rungs {
		if r.Index != i || r.Chain != 0 || r.Decision == nil || *r.Decision != want[i] {
			t.Errorf("rung %d is %+v, %+v", i, r, r.Decision)
		}
		if r.Place.File != "routing@1.2.0/routing.rego" || r.Place.Row <= row || r.Place.Text == "" {
			t.Errorf("rung %d is at %+v", i, r.Place)
		}
		row = r.Place.Row
	}
	if got, want := rungs[0].Place.Text, `decision := {"next_action": "stuck", "reason": "stuck-finding"} if {`; got != want {
		t.Errorf("the first rung begins with %q, want %q", got, want)
	}
	rungs[0].Decision.Reason = "changed"
	if got := ladder(t, load(t, "routing@1.2.0")).Rungs()[0].Decision.Reason; got != "stuck-finding" {
		t.Errorf("the caller's change is seen by others: %q", got)
	}
}

// A round over its cap, with a finding for stuck, one for the executor and a red
// verification: four rungs hold, and the first of them decides.
func TestClimbReturnsWhatTheDecisionOutranks(t *testing.T) {
	in := input(3, 3, routing.Red, map[string]int{"stuck": 1, "executor": 1})
	want := []routing.Held{
		{Rung: 0, Decision: routing.Decision{NextAction: "stuck", Reason: "stuck-finding"}},
		{Rung: 1, Decision: routing.Decision{NextAction: "stuck", Reason: "max-rounds"}},
		{Rung: 3, Decision: routing.Decision{NextAction: "stuck", Reason: "routed"}},
		{Rung: 4, Decision: routing.Decision{NextAction: "executor", Reason: "verify-red"}},
	}
	if got := climb(t, load(t, "routing@1.2.0"), in); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}

// The first rung that holds is what Decide says, whatever the input.
func TestTheFirstRungThatHoldsDecides(t *testing.T) {
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		n := 0
		everyInput(func(in routing.Input) {
			if n++; n%5 != 0 { // the ladder is slower than the policy, and all of it is tried elsewhere
				return
			}
			held := climb(t, p, in)
			want, err := p.Decide(t.Context(), in)
			if err != nil || len(held) == 0 || held[0].Decision != want {
				t.Fatalf("%s: %+v: held are %+v, decided is %+v, %v", ref, in, held, want, err)
			}
		})
		if n < 2000 {
			t.Errorf("%s: only %d inputs", ref, n)
		}
	}
}

func TestRulesWithoutElseAreChains(t *testing.T) {
	p := deciding(t, `default decision := {"next_action": "stuck", "reason": "else"}

decision := {"next_action": "fixer", "reason": "a"} if input.round == 1 else := {"next_action": "fixer", "reason": "b"} if input.round == 2

decision := d if {
	input.round == 3
	d := {"next_action": "fixer", "reason": "c"}
}`)
	chains, computed := []int{}, []bool{}
	for _, r := range ladder(t, p).Rungs() {
		chains, computed = append(chains, r.Chain), append(computed, r.Decision == nil)
	}
	if !slices.Equal(chains, []int{0, 0, 1, 2}) || !slices.Equal(computed, []bool{false, false, true, false}) {
		t.Fatalf("chains are %v, computed are %v", chains, computed)
	}
	for round, want := range map[int][]int{1: {0, 3}, 2: {1, 3}, 3: {2, 3}, 4: {3}} {
		var got []int
		for _, h := range climb(t, p, input(round, 9, routing.Green, nil)) {
			got = append(got, h.Rung)
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: rungs %v hold, want %v", round, got, want)
		}
	}
}

// A rung in which something fails does not hold, and keeps no other from it:
// neither a built-in nor rules that disagree.
func TestARungThatFailsDoesNotHold(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "stuck", "reason": "a"} if {
	1 / (input.round - 1) > 0
} else := {"next_action": "stuck", "reason": "b"} if {
	_torn == 1
} else := {"next_action": "fixer", "reason": "c"}

_torn := 1

_torn := 2 if input.round == 1`)
	want := []routing.Held{{Rung: 2, Decision: routing.Decision{NextAction: "fixer", Reason: "c"}}}
	if got := climb(t, p, clean()); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
	_, err := p.Decide(t.Context(), clean())
	wantCode(t, err, errs.PolicyFailed)
}

func TestNoRungNeedsToHold(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "stuck", "reason": "a"} if input.round > 1`)
	if held := climb(t, p, clean()); held == nil || len(held) != 0 {
		t.Errorf("held are %#v, want none", held)
	}
}

// Branches mean the same on the ladder, whatever their modules import and name.
func TestTheLadderKeepsEveryMeaning(t *testing.T) {
	dir := writeDir(t, map[string]string{
		"a.rego": goodMetadata + goodTables,
		"b.rego": "package switchyard.routing\n\nimport data.lib.names as rungs\nimport input.verify\n\n" +
			"decision := {\"next_action\": rungs.fixer, \"reason\": verify} if decision_rungs = 3\n\ndecision_rungs := 3\n",
		"lib/names.rego": "package lib.names\n\nfixer := \"fixer\"\n\ndecision := 7\n",
	})
	want := []routing.Held{{Rung: 0, Decision: routing.Decision{NextAction: "fixer", Reason: "green"}}}
	if got := climb(t, load(t, dir), clean()); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}

func TestClimbRefusesWhatDecideRefuses(t *testing.T) {
	p := deciding(t, computed(`{"next_action": "stuck"}`))
	_, err := ladder(t, p).Climb(t.Context(), routing.Input{})
	wantCode(t, err, errs.PolicyInvalidInput)
	_, err = ladder(t, p).Climb(t.Context(), clean())
	wantCode(t, err, errs.PolicyInvalidDecision)

	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = ladder(t, p).Climb(stopped, clean())
	wantCode(t, err, errs.PolicyFailed)
	_, err = deciding(t, endless).Ladder(stopped)
	if wantCode(t, err, errs.PolicyUnreadable); !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
	_, err = ladder(t, deciding(t, endless)).Climb(t.Context(), clean())
	wantCode(t, err, errs.PolicyTimeout)
}

func TestTheLadderIsSafeForConcurrentUse(t *testing.T) {
	p := load(t, policies.Default)
	in := input(1, 3, routing.Red, map[string]int{"executor": 2})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := p.Ladder(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if held, err := l.Climb(t.Context(), in); err != nil || len(held) != 2 {
					t.Errorf("held are %+v, %v", held, err)
				}
				if got := p.Thresholds(); len(got.Unknown) != 0 {
					t.Errorf("thresholds are %+v", got)
				}
			}
		})
	}
	wg.Wait()
}

// A policy on the compiled engine has the same ladder.
func TestTheLadderDoesNotDependOnTheEngine(t *testing.T) {
	in := input(3, 3, routing.Red, map[string]int{"stuck": 1, "executor": 1})
	want := climb(t, load(t, policies.Default), in)
	if got := climb(t, loadOn(t, routing.EngineWasm, policies.Default), in); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}
