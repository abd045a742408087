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

func branchesOf(t *testing.T, p *routing.Policy) *routing.Branches {
	t.Helper()
	l, err := p.Branches(t.Context(), routing.DecisionRule)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func matching(t *testing.T, p *routing.Policy, in routing.Input) []routing.Match {
	t.Helper()
	held, err := branchesOf(t, p).Matching(t.Context(), in)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	return held
}

// The branches are the rows of the table in ADR-0003.
func TestBranchesAreInSourceOrder(t *testing.T) {
	want := []routing.Decision{
		{NextAction: "stuck", Reason: "stuck-finding"},
		{NextAction: "stuck", Reason: "max-rounds"},
		{NextAction: "stuck", Reason: "no-progress"},
		{NextAction: "", Reason: "routed"}, // computed
		{NextAction: "executor", Reason: "verify-red"},
		{NextAction: "commit", Reason: "no-findings"},
	}
	branches := branchesOf(t, load(t, "routing@1.2.0")).All()
	if len(branches) != len(want) {
		t.Fatalf("%d branches, want %d", len(branches), len(want))
	}
	row := 0
	for i, r := range branches {
		if r.Index != i || r.Chain != 0 || r.Decision == nil || *r.Decision != want[i] {
			t.Errorf("branch %d is %+v, %+v", i, r, r.Decision)
		}
		if r.Location.File != "routing@1.2.0/routing.rego" || r.Location.Row <= row || r.Location.Text == "" {
			t.Errorf("branch %d is at %+v", i, r.Location)
		}
		row = r.Location.Row
	}
	if got, want := branches[0].Location.Text, `decision := {"next_action": "stuck", "reason": "stuck-finding"} if {`; got != want {
		t.Errorf("the first branch begins with %q, want %q", got, want)
	}
}

// A round over its cap, with a finding for stuck, one for the executor and a red
// verification: four branches match, and the first of them decides.
func TestMatchReturnsWhatTheDecisionOutranks(t *testing.T) {
	in := input(3, 3, routing.Red, map[string]int{"stuck": 1, "executor": 1})
	want := []routing.Match{
		{Branch: 0, Decision: routing.Decision{NextAction: "stuck", Reason: "stuck-finding"}},
		{Branch: 1, Decision: routing.Decision{NextAction: "stuck", Reason: "max-rounds"}},
		{Branch: 3, Decision: routing.Decision{NextAction: "stuck", Reason: "routed"}},
		{Branch: 4, Decision: routing.Decision{NextAction: "executor", Reason: "verify-red"}},
	}
	if got := matching(t, load(t, "routing@1.2.0"), in); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}

// The first matching branch gives the decision of Decide for every input.
func TestTheFirstBranchThatHoldsDecides(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		n := 0
		everyInput(p, func(in routing.Input) {
			if n++; n%5 != 0 { // matching is slower than deciding, and every input is tried elsewhere
				return
			}
			held := matching(t, p, in)
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
	for _, r := range branchesOf(t, p).All() {
		chains, computed = append(chains, r.Chain), append(computed, r.Decision == nil)
	}
	if !slices.Equal(chains, []int{0, 0, 1, 2}) || !slices.Equal(computed, []bool{false, false, true, false}) {
		t.Fatalf("chains are %v, computed are %v", chains, computed)
	}
	for round, want := range map[int][]int{1: {0, 3}, 2: {1, 3}, 3: {2, 3}, 4: {3}} {
		var got []int
		for _, h := range matching(t, p, input(round, 9, routing.Green, nil)) {
			got = append(got, h.Branch)
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: branches %v hold, want %v", round, got, want)
		}
	}
}

// A branch whose evaluation fails does not match, and does not affect other branches,
// whether a built-in fails or rules conflict.
func TestABranchThatFailsDoesNotHold(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "stuck", "reason": "a"} if {
	1 / (input.round - 1) > 0
} else := {"next_action": "stuck", "reason": "b"} if {
	_torn == 1
} else := {"next_action": "fixer", "reason": "c"}

_torn := 1

_torn := 2 if input.round == 1`)
	want := []routing.Match{{Branch: 2, Decision: routing.Decision{NextAction: "fixer", Reason: "c"}}}
	if got := matching(t, p, clean()); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
	_, err := p.Decide(t.Context(), clean())
	wantCode(t, err, errs.PolicyFailed)
}

func TestNoBranchNeedsToHold(t *testing.T) {
	p := deciding(t, `decision := {"next_action": "stuck", "reason": "a"} if input.round > 1`)
	if held := matching(t, p, clean()); held == nil || len(held) != 0 {
		t.Errorf("held are %#v, want none", held)
	}
}

// Branches keep their meaning, whatever their modules import and name.
func TestNamesKeepTheirMeaningInBranches(t *testing.T) {
	dir := writeDir(t, map[string]string{
		"a.rego": goodMetadata + goodTables,
		"b.rego": "package switchyard.routing\n\nimport data.lib.names as rungs\nimport input.verify\n\n" +
			"decision := {\"next_action\": rungs.fixer, \"reason\": verify} if decision_rungs = 3\n\ndecision_rungs := 3\n",
		"lib/names.rego": "package lib.names\n\nfixer := \"fixer\"\n\ndecision := 7\n",
	})
	want := []routing.Match{{Branch: 0, Decision: routing.Decision{NextAction: "fixer", Reason: "green"}}}
	if got := matching(t, load(t, dir), clean()); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}

func TestMatchRefusesWhatDecideRefuses(t *testing.T) {
	p := deciding(t, computed(`{"next_action": "stuck"}`))
	_, err := branchesOf(t, p).Matching(t.Context(), routing.Input{})
	wantCode(t, err, errs.PolicyInvalidInput)
	_, err = branchesOf(t, p).Matching(t.Context(), clean())
	wantCode(t, err, errs.PolicyInvalidDecision)

	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = branchesOf(t, p).Matching(stopped, clean())
	wantCode(t, err, errs.PolicyFailed)
	_, err = deciding(t, endless).Branches(stopped, routing.DecisionRule)
	if wantCode(t, err, errs.PolicyUnreadable); !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
	_, err = branchesOf(t, deciding(t, endless)).Matching(t.Context(), clean())
	wantCode(t, err, errs.PolicyTimeout)
}

func TestBranchesAreSafeForConcurrentUse(t *testing.T) {
	p := load(t, policies.Default)
	in := input(1, 3, routing.Red, map[string]int{"executor": 2})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				l, err := p.Branches(t.Context(), routing.DecisionRule)
				if err != nil {
					t.Error(err)
					return
				}
				if held, err := l.Matching(t.Context(), in); err != nil || len(held) != 2 {
					t.Errorf("held are %+v, %v", held, err)
				}
				if got := p.Thresholds(routing.DecisionRule); len(got.Unknown) != 0 {
					t.Errorf("thresholds are %+v", got)
				}
			}
		})
	}
	wg.Wait()
}

// A policy on the compiled engine has the same branches.
func TestBranchesAreTheSameForBothEngines(t *testing.T) {
	in := input(3, 3, routing.Red, map[string]int{"stuck": 1, "executor": 1})
	want := matching(t, load(t, policies.Default), in)
	if got := matching(t, loadOn(t, routing.EngineWasm, policies.Default), in); !slices.Equal(got, want) {
		t.Errorf("held are %+v, want %+v", got, want)
	}
}
