// Package inputspace divides all that a policy can be asked into finitely many
// classes.
//
// A policy sees a round as a handful of numbers. There are infinitely many
// inputs, but a policy compares those numbers with few others, and between two of
// these it cannot tell one input from the next: they are one class, and one input
// stands for all of them. A domain has every class that is possible, so what
// holds for each of them holds for everything.
//
// Classes differ in which destinations have findings, in the verification, in
// whether the round is below, at or above the cap, in which kinds of findings
// there are (new, repeats, reopened), in whether any were resolved, in how long
// nothing has moved, and in where each number stands to those that the policy
// compares it with (routing.Thresholds).
//
// A *Domain is immutable and safe for concurrent use.
package inputspace

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxClasses is the most classes that a domain may have. To decide that many
// takes seconds.
const MaxClasses = 200_000

// Domain is every class of inputs that some policies can tell apart. Get one from
// Of.
type Domain struct {
	destinations []string // those that take findings, strongest first
	scales       scales
	// A class is one of the reviews in one of the settings: neither limits the
	// other.
	reviews  []review
	settings []setting
	gaps     []routing.Location
}

// Of returns the classes that all of the policies together can tell apart: each of
// the policies decides an input of a class as any other of that class. The classes
// have findings only for destinations to which all of the policies send findings.
//
// # Errors
//
// policy-domain-too-large, with the details limit, destinations (how many there are) and
// thresholds: by field, the numbers that it is compared with.
func Of(ps ...*routing.Policy) (*Domain, error) {
	thresholds := make(map[string][]int)
	var gaps []routing.Location
	for _, p := range ps {
		t := p.Thresholds()
		for field, numbers := range t.Fields {
			thresholds[field] = append(thresholds[field], numbers...)
		}
		for _, gap := range t.Unknown {
			if !slices.Contains(gaps, gap) {
				gaps = append(gaps, gap)
			}
		}
	}
	d, err := of(shared(ps), thresholds)
	if err != nil {
		return nil, err
	}
	d.gaps = gaps
	return d, nil
}

// of makes the domain over these destinations, for rules that compare numbers with
// those thresholds.
func of(destinations []string, thresholds map[string][]int) (*Domain, error) {
	d := &Domain{destinations: destinations, scales: newScales(destinations, thresholds)}
	var fits bool
	if d.settings, fits = d.scales.settings(MaxClasses); fits {
		d.reviews, fits = d.scales.reviews(MaxClasses / len(d.settings))
	}
	if !fits {
		return nil, errs.New(errs.PolicyDomainTooLarge, "the policy tells more than %d classes of inputs apart", MaxClasses).
			With("limit", MaxClasses).
			With("destinations", len(destinations)).
			With("thresholds", thresholds)
	}
	return d, nil
}

// shared lists the destinations that all policies send findings to, in the first
// one's order.
func shared(ps []*routing.Policy) []string {
	var names []string
	for i, p := range ps {
		ranked := p.Precedence()
		if i == 0 {
			names = ranked
			continue
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(ranked, name) })
	}
	return names
}

// Len is the number of classes.
func (d *Domain) Len() int { return len(d.reviews) * len(d.settings) }

// class takes a class's number apart. It panics where i is out of range, as an
// index does.
func (d *Domain) class(i int) (review, setting) {
	return d.reviews[i/len(d.settings)], d.settings[i%len(d.settings)]
}

// At returns the input that stands for class i, from 0 to Len()-1: the smallest
// that the class has, so that it reads well as a counterexample. It never
// contradicts itself. It is the caller's.
func (d *Domain) At(i int) routing.Input {
	review, setting := d.class(i)
	var in routing.Input
	setting.smallest(&in)
	review.smallest(&in, d.destinations)
	return in
}

// Destinations lists those that the classes have findings for, strongest first.
// The slice is the caller's.
func (d *Domain) Destinations() []string { return slices.Clone(d.destinations) }

// Gaps are the places where a policy uses its input in a way that nobody can
// bound. If there is one, the classes may not be all that it tells apart. The
// slice is the caller's.
func (d *Domain) Gaps() []routing.Location { return slices.Clone(d.gaps) }
