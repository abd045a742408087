package proof_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/policies/proof"
)

func TestWhatARecordWaivesIsNoObstacle(t *testing.T) {
	p := mutated(t, `["stuck", "askuser", "executor"]`, `["stuck", "executor", "askuser"]`)
	waiver := proof.Waiver{Invariant: proof.HumanFirst, ADR: "ADR-0042", Reason: "nobody is there at night"}
	r := verify(t, p, proof.Options{Waivers: []proof.Waiver{waiver}})
	result := resultOf(t, r, proof.HumanFirst)
	if !r.Proven() || result.Holds || result.WaivedBy != "ADR-0042" || result.Violated == 0 {
		t.Errorf("proven is %v, and %+v", r.Proven(), result)
	}
	// One that is not accepted yet is named, and waives nothing.
	waiver.Proposed = true
	r = verify(t, p, proof.Options{Waivers: []proof.Waiver{waiver}})
	if result := resultOf(t, r, proof.HumanFirst); r.Proven() || result.WaivedBy != "" || result.ProposedBy != "ADR-0042" {
		t.Errorf("proposed: proven is %v, and %+v", r.Proven(), result)
	}
	waiver.Proposed = false
	// Another one's waiver is none, and one that is not needed is not used.
	waiver.Invariant = proof.NoDeadRow
	r = verify(t, p, proof.Options{Waivers: []proof.Waiver{waiver}})
	if r.Proven() || resultOf(t, r, proof.HumanFirst).WaivedBy != "" || resultOf(t, r, proof.NoDeadRow).WaivedBy != "" {
		t.Errorf("a waiver of %s counts for another", waiver.Invariant)
	}
}

func TestWaiversThatNoRecordCanGive(t *testing.T) {
	for name, w := range map[string]proof.Waiver{
		"unknown":      {Invariant: "human-last", ADR: "ADR-0042", Reason: "why not"},
		"no ADR":       {Invariant: proof.HumanFirst, Reason: "why not"},
		"no reason":    {Invariant: proof.HumanFirst, ADR: "ADR-0042"},
		"not waivable": {Invariant: proof.OnlyCleanCommits, ADR: "ADR-0042", Reason: "why not"},
	} {
		r, err := proof.Verify(t.Context(), load(t, policies.Default), proof.Options{Waivers: []proof.Waiver{w}})
		f, ok := err.(*fault.Error)
		if !ok || f.Code != proof.CodeWaiverInvalid || f.Details["invariant"] != w.Invariant {
			t.Errorf("%s: got %v", name, err)
		}
		if r.Proven() {
			t.Errorf("%s: a report that comes with an error counts as proven", name)
		}
	}
}

func TestInvariantsSayWhichAreWaivable(t *testing.T) {
	var safety, taste []proof.Invariant
	seen := make(map[proof.Invariant]bool)
	for _, i := range proof.Invariants() {
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
	if want := []proof.Invariant{"total", "clean-commits", "only-clean-commits", "declared", "stuck-strongest", "ends", "classes"}; !slices.Equal(safety, want) {
		t.Errorf("%v cannot be waived, want %v", safety, want)
	}
	if want := []proof.Invariant{"human-first", "precedence-kept", "no-dead-row", "no-shadowed-rule", "category-raised", "category-known"}; !slices.Equal(taste, want) {
		t.Errorf("%v can be waived, want %v", taste, want)
	}
	if other := proof.Invariant("other"); other.Waivable() || other.Says() != "" {
		t.Error("a name that is no invariant can be waived")
	}
}
