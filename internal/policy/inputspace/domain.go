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
// each number compares with the policy's thresholds (routing.Thresholds). The classes of
// a bar differ only in the fields that the rule bar reads.
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

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// maxClasses bounds the classes of a domain. Deciding that many takes seconds.
const maxClasses = 200_000

// Domain is the set of input classes that some policies distinguish. Of returns one.
type Domain struct {
	destinations []string // those that accept findings, strongest first
	scales       scales
	// A class is a pair of a review and a setting: of reviews and settings, or, for reviews
	// that may extend the task, of extending and extendable.
	reviews, extending   []review
	settings, extendable []setting
	gaps                 []routing.Location
}

// Of returns the classes of inputs that a rule distinguishes in at least one of the
// policies: each policy answers all inputs of a class alike. The classes have findings only
// for destinations to which all of the policies send findings.
//
// # Errors
//
// policy-domain-too-large, with the details limit, destinations (their number) and
// thresholds (by field).
func Of(rule routing.Rule, ps ...*routing.Policy) (*Domain, error) {
	u := uses{thresholds: make(map[string][]int), bar: rule == routing.BarRule}
	destinations := ps[0].Precedence()
	for _, p := range ps {
		ranked := p.Precedence()
		destinations = slices.DeleteFunc(destinations, func(name string) bool { return !slices.Contains(ranked, name) })
		t := p.Thresholds(rule)
		u.facts = u.facts || p.HasBar()
		u.reads = append(u.reads, t.Reads...)
		for field, numbers := range t.Fields {
			u.thresholds[field] = append(u.thresholds[field], numbers...)
		}
		for _, gap := range t.Unknown {
			if !slices.Contains(u.gaps, gap) {
				u.gaps = append(u.gaps, gap)
			}
		}
	}
	return of(destinations, u)
}

// uses describes how policies use their input.
type uses struct {
	thresholds map[string][]int
	reads      []string
	// facts is set if a policy sees facts; bar is set for the rule bar.
	facts, bar bool
	gaps       []routing.Location // as in Domain
}

// of returns the domain of these destinations and uses.
func of(destinations []string, u uses) (*Domain, error) {
	d := &Domain{destinations: destinations, scales: newScales(destinations, u), gaps: u.gaps}
	var fits bool
	if d.settings, fits = d.scales.settings(maxClasses); fits {
		d.reviews, fits = d.scales.reviews(maxClasses / len(d.settings))
	}
	if !fits {
		return nil, errs.New(errs.PolicyDomainTooLarge, "the policy distinguishes more than %d classes of inputs", maxClasses).
			With("limit", maxClasses).
			With("destinations", len(destinations)).
			With("thresholds", u.thresholds)
	}
	d.extendable = slices.DeleteFunc(slices.Clone(d.settings), func(s setting) bool { return !s.extendable() })
	d.extending = slices.DeleteFunc(slices.Clone(d.reviews), func(r review) bool { return !r.facts.mayExtend })
	d.reviews = slices.DeleteFunc(d.reviews, func(r review) bool { return r.facts.mayExtend })
	return d, nil
}

// Len returns the number of classes.
func (d *Domain) Len() int {
	return len(d.reviews)*len(d.settings) + len(d.extending)*len(d.extendable)
}

// class splits a class's number. It panics if i is out of range, as an index does.
func (d *Domain) class(i int) (review, setting) {
	if e := i - len(d.reviews)*len(d.settings); e >= 0 {
		return d.extending[e/len(d.extendable)], d.extendable[e%len(d.extendable)].extended()
	}
	return d.reviews[i/len(d.settings)], d.settings[i%len(d.settings)]
}

// At returns the representative of class i, from 0 to Len()-1: the smallest input of the
// class, so that it is readable as a counterexample. It never contradicts itself. The
// caller owns it. Findings that the class does not assign go to the weakest destination
// and are new.
func (d *Domain) At(i int) routing.Input {
	review, setting := d.class(i)
	var in routing.Input
	d.write(&in, review, setting, chooser{
		number: func(s span) int { return s.lo },
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

// Sample returns an input of class i drawn with seed. It usually differs from At: it is
// larger, in another round, or lists destinations without findings. A policy that decides
// the two differently depends on more than its thresholds. Sample is deterministic. The
// caller owns the input, which never contradicts itself.
func (d *Domain) Sample(i int, seed uint64) routing.Input {
	review, setting := d.class(i)
	draw := rand.New(rand.NewPCG(seed, uint64(i)))
	choose := chooser{
		number: func(s span) int { return s.lo + drawUpTo(draw, s.hi-s.lo) },
		share:  func(most int) int { return draw.IntN(most + 1) },
		absent: func() bool { return draw.IntN(2) == 0 },
	}
	smallest := d.At(i)
	var in routing.Input
	for range 4 {
		d.write(&in, review, setting, choose)
		if !reflect.DeepEqual(in, smallest) {
			break
		}
	}
	return in
}

// write writes the input of a class that choose selects to in.
func (d *Domain) write(in *routing.Input, r review, s setting, choose chooser) {
	in.Facts = nil
	if d.scales.facts != nil {
		in.Facts = new(routing.Facts)
	}
	s.write(in, choose.number)
	r.write(in, d.destinations, choose)
}

// drawUpTo draws a number from 0 to most, at most a million. It draws the number of bits
// first, so that small numbers are as likely as large ones.
func drawUpTo(draw *rand.Rand, most int) int {
	return draw.IntN(min(most, 1<<draw.IntN(21)) + 1)
}

// Size orders counterexamples: an input with a lesser size is easier to read. It adds up
// rounds, findings, listed destinations, kinds of findings, resolved findings, stalled
// rounds, facts and a red verification. The number is only meaningful in comparisons.
func Size(in routing.Input) int {
	size := 0
	add := func(numbers ...int) {
		for _, n := range numbers {
			size += min(n, unbounded)
		}
	}
	add(in.Round, in.MaxRounds, in.FindingCount, in.ResolvedCount, in.StalledRounds, len(in.Routes))
	if f := in.Facts; f != nil {
		add(f.RoundsLeft, f.FirstTimeCount, f.ReviewsSinceLow, f.InducedRounds, f.BlockingCount, f.DeferredCount)
		add(slices.Index(confinement.Levels(), f.Confinement))
	}
	for _, n := range kindsOf(in) {
		add(min(n, 1))
	}
	if in.Verify == routing.Red {
		add(1)
	}
	return size
}
