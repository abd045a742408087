// Package inputspace partitions the input space of policies into finitely many classes.
//
// A policy sees a round as a few numbers. There are infinitely many inputs, but a policy
// compares those numbers with few others, and inputs between two neighbouring ones get
// the same decision: they form one class, represented by one input. A domain has every
// possible class, so a property of all classes is a property of all inputs.
//
// Classes differ in the destinations that have findings, in the verification, in whether
// the round is below, at or above the cap, in the kinds of findings (new, repeats,
// reopened), in whether any were resolved, in the number of stalled rounds, and in how
// each number compares with the policy's thresholds (routing.Thresholds).
//
// A *Domain is immutable and safe for concurrent use.
package inputspace

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxClasses bounds the classes of a domain. Deciding that many takes seconds.
const MaxClasses = 200_000

// Domain is the set of input classes that some policies distinguish. Of returns one.
type Domain struct {
	destinations []string // those that accept findings, strongest first
	scales       scales
	// A class is a pair of a review and a setting; all pairs are possible.
	reviews  []review
	settings []setting
	gaps     []routing.Location
}

// Of returns the classes that the policies together distinguish: each policy decides all
// inputs of a class alike. The classes have findings only for destinations to which all
// of the policies send findings.
//
// # Errors
//
// policy-domain-too-large, with the details limit, destinations (their number) and
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

// of returns the domain of these destinations and thresholds.
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

// shared lists the destinations to which all policies send findings, in the first
// policy's order.
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

// Len returns the number of classes.
func (d *Domain) Len() int { return len(d.reviews) * len(d.settings) }

// class splits a class's number. It panics if i is out of range, as an index does.
func (d *Domain) class(i int) (review, setting) {
	return d.reviews[i/len(d.settings)], d.settings[i%len(d.settings)]
}

// At returns the representative of class i, from 0 to Len()-1: the smallest input of the
// class, so that it is readable as a counterexample. It never contradicts itself. The
// caller owns it. Findings that could be anywhere go to the weakest destination and are
// new.
func (d *Domain) At(i int) routing.Input {
	review, setting := d.class(i)
	var in routing.Input
	lowest := func(s span) int { return s.lo }
	setting.write(&in, lowest)
	review.write(&in, d.destinations, chooser{
		number: lowest,
		share:  func(most int) int { return most },
		absent: func() bool { return true },
	})
	return in
}

// Gaps lists the locations at which a policy uses its input in a way that cannot be
// bounded. If there are any, the classes may be incomplete. The caller owns the slice.
func (d *Domain) Gaps() []routing.Location { return slices.Clone(d.gaps) }

// Each calls work for every class number on all processors, in ascending order, and waits
// for the calls to end. A processor stops when one of its calls returns false. progress,
// if not nil, is called with the number of finished classes; its calls are not
// concurrent.
func (d *Domain) Each(work func(class int) bool, progress func(done int)) {
	var next atomic.Int64
	var mu sync.Mutex // guards done and the calls of progress
	done := 0
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1) - 1); i < d.Len() && work(i); i = int(next.Add(1) - 1) {
				if progress != nil {
					mu.Lock()
					done++
					progress(done)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
}

// Sample returns an input of class i drawn with seed: a larger one, in another round, or
// one that lists destinations without findings. It differs from At if the draw finds such
// an input. A policy that decides the two differently depends on something beyond its
// thresholds. Sample is deterministic. The caller owns the input, which never contradicts
// itself.
func (d *Domain) Sample(i int, seed uint64) routing.Input {
	review, setting := d.class(i)
	draw := rand.New(rand.NewPCG(seed, uint64(i)))
	number := func(s span) int { return s.lo + drawUpTo(draw, s.hi-s.lo) }
	choose := chooser{
		number: number,
		share:  func(most int) int { return draw.IntN(most + 1) },
		absent: func() bool { return draw.IntN(2) == 0 },
	}
	smallest := d.At(i)
	var in routing.Input
	for range 4 {
		setting.write(&in, number)
		review.write(&in, d.destinations, choose)
		if !reflect.DeepEqual(in, smallest) {
			break
		}
	}
	return in
}

// drawUpTo draws a number from 0 to most, at most a million. It draws the number of bits
// first, so that small numbers are as likely as large ones.
func drawUpTo(draw *rand.Rand, most int) int {
	return draw.IntN(min(most, 1<<draw.IntN(21)) + 1)
}

// Size orders counterexamples: of two inputs that show the same, the one with the lesser
// size is easier to read. It adds up rounds, findings, listed destinations, kinds of
// findings, resolved findings, stalled rounds and a red verification. The number is only
// meaningful in comparisons.
func Size(in routing.Input) int {
	size := 0
	add := func(n int) { size += min(n, unbounded) }
	add(in.Round)
	add(in.MaxRounds)
	add(in.FindingCount)
	add(in.ResolvedCount)
	add(in.StalledRounds)
	add(len(in.Routes))
	for _, n := range kindsOf(in) {
		add(min(n, 1))
	}
	if in.Verify == routing.Red {
		add(1)
	}
	return size
}
