package check_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestWhatARecordWaivesIsNoObstacle(t *testing.T) {
	p := mutated(t, `["stuck", "askuser", "executor"]`, `["stuck", "executor", "askuser"]`)
	waiver := check.Waiver{Invariant: check.HumanFirst, ADR: "ADR-0042", Reason: "nobody is there at night"}
	r := verify(t, p, check.Options{Waivers: []check.Waiver{waiver}})
	result := resultOf(t, r, check.HumanFirst)
	if !r.Passes() || result.Holds || result.WaivedBy != "ADR-0042" || result.Violated == 0 {
		t.Errorf("proven is %v, and %+v", r.Passes(), result)
	}
	// A waiver that is not accepted yet is named, and waives nothing.
	waiver.Proposed = true
	r = verify(t, p, check.Options{Waivers: []check.Waiver{waiver}})
	if result := resultOf(t, r, check.HumanFirst); r.Passes() || result.WaivedBy != "" || result.ProposedBy != "ADR-0042" {
		t.Errorf("proposed: proven is %v, and %+v", r.Passes(), result)
	}
	waiver.Proposed = false
	// A waiver for another invariant has no effect, and one that is not needed is not
	// used.
	waiver.Invariant = check.NoDeadRow
	r = verify(t, p, check.Options{Waivers: []check.Waiver{waiver}})
	if r.Passes() || resultOf(t, r, check.HumanFirst).WaivedBy != "" || resultOf(t, r, check.NoDeadRow).WaivedBy != "" {
		t.Errorf("a waiver of %s counts for another", waiver.Invariant)
	}
}

func TestWaiversThatNoRecordCanGive(t *testing.T) {
	for name, w := range map[string]check.Waiver{
		"unknown":      {Invariant: "human-last", ADR: "ADR-0042", Reason: "why not"},
		"no ADR":       {Invariant: check.HumanFirst, Reason: "why not"},
		"no reason":    {Invariant: check.HumanFirst, ADR: "ADR-0042"},
		"not waivable": {Invariant: check.OnlyCleanCommits, ADR: "ADR-0042", Reason: "why not"},
	} {
		r, err := check.Verify(t.Context(), load(t, policies.Default), check.Options{Waivers: []check.Waiver{w}})
		f, ok := err.(*errs.Error)
		if !ok || f.Code != errs.PolicyWaiverInvalid || f.Details["invariant"] != w.Invariant {
			t.Errorf("%s: got %v", name, err)
		}
		if r.Passes() {
			t.Errorf("%s: a report that comes with an error counts as proven", name)
		}
	}
}

func TestInvariantsSayWhichAreWaivable(t *testing.T) {
	var safety, taste []check.Invariant
	seen := make(map[check.Invariant]bool)
	for _, i := range check.Invariants() {
		if seen[i] || i.Says() == "" {
			t.Errorf("%q is there twice or says nothing", i)
		}
		seen[i] = true
		if i.Waivable() {
			taste = append(taste, i)
		} else {
			safety = append(safety, i)
		}
	}
	if want := []check.Invariant{"total", "clean-commits", "only-clean-commits", "declared", "stuck-strongest", "ends", "classes", "fail-never-deferred", "bar-monotone"}; !slices.Equal(safety, want) {
		t.Errorf("%v cannot be waived, want %v", safety, want)
	}
	if want := []check.Invariant{"human-first", "precedence-kept", "no-dead-row", "no-shadowed-rule", "category-raised", "category-known"}; !slices.Equal(taste, want) {
		t.Errorf("%v can be waived, want %v", taste, want)
	}
	if other := check.Invariant("other"); other.Waivable() || other.Says() != "" {
		t.Error("a name that is no invariant can be waived")
	}
}
