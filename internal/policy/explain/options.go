package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// A dimension is the elementary changes of which an input can have one at a time:
// those of the findings for one destination, those of the verification, and so
// on. It is sorted by cost.
type dimension []Change

// options makes the dimensions of an input.
type options struct {
	in         routing.Input
	ranked     []string         // routing.Policy.Precedence
	fields     map[string][]int // routing.Thresholds
	fine       bool             // every count near by is tried
	dimensions []dimension
}

// reach is how far from its own count a destination's are tried one by one.
const reach = 8

// dimensionsOf lists every elementary change of in that can matter to p.
//
// Between two numbers that a policy compares a count with, it cannot tell one
// count from the next (routing.Thresholds). So the nearest count on every other
// side of such a number is enough. What is always tried is that a destination has
// no findings, or has one where it had none.
//
// Only where the policy adds findings up, or looks at them in a way that cannot be
// bounded, every count within reach is tried: there it can take some changes of
// several destinations together to make a difference.
func dimensionsOf(p *routing.Policy, in routing.Input) []dimension {
	t := p.Thresholds()
	o := options{in: in, ranked: p.Precedence(), fields: t.Fields, fine: len(t.Unknown) > 0}
	for _, field := range []string{"finding_count", "new_count", "repeat_count", "reopened_count", "resolved_count"} {
		// None or some is what the destinations say already.
		o.fine = o.fine || slices.ContainsFunc(t.Fields[field], func(k int) bool { return k != 0 || field != "finding_count" })
	}
	for _, name := range o.ranked {
		o.findings(name)
	}
	o.verification()
	o.cap()
	o.round()
	o.past()
	o.stall()
	return o.dimensions
}

func (o *options) add(d dimension) {
	if len(d) == 0 {
		return
	}
	slices.SortStableFunc(d, func(a, b Change) int { return cmp.Compare(a.cost(), b.cost()) })
	o.dimensions = append(o.dimensions, d)
}

// counts adds a dimension for a number that may be from lo to hi.
func (o *options) counts(kind Kind, destination string, from int, to []int, lo, hi int) {
	slices.Sort(to)
	var d dimension
	for _, n := range slices.Compact(to) {
		if n != from && lo <= n && n <= hi {
			d = append(d, counted(kind, destination, from, n))
		}
	}
	o.add(d)
}

func counted(kind Kind, destination string, from, to int) Change {
	c := Change{Kind: kind, Destination: destination, Count: &Count{from, to}}
	c.Words = c.words()
	return c
}

func (o *options) findings(destination string) {
	n := o.in.Routes[destination]
	to := append(nearest(n, o.fields["routes"]), nearest(n, o.fields["routes."+destination])...)
	to = append(to, 0)
	if n == 0 {
		to = append(to, 1)
	}
	if o.fine {
		for near := range reach { // and none beyond the largest number
			to = append(to, n-1-near, n+1+min(near, math.MaxInt-1-n))
		}
	}
	for _, all := range nearest(o.in.FindingCount, o.fields["finding_count"]) {
		if rest := o.in.FindingCount - n; all >= rest { // what the other destinations have stays
			to = append(to, all-rest)
		}
	}
	o.counts(Findings, destination, n, to, 0, math.MaxInt)
}

func (o *options) verification() {
	var d dimension
	for _, v := range []routing.Verify{routing.Green, routing.Absent, routing.Red} {
		if v != o.in.Verify {
			c := Change{Kind: Verification, Verify: &Verify{o.in.Verify, v}}
			c.Words = c.words()
			d = append(d, c)
		}
	}
	o.add(d)
}

func (o *options) cap() {
	to := append(nearest(o.in.MaxRounds, o.fields["max_rounds"]), nearest(o.in.MaxRounds, []int{o.in.Round})...)
	o.counts(Cap, "", o.in.MaxRounds, to, 1, routing.MaxRoundsLimit)
}

func (o *options) round() {
	o.counts(Round, "", o.in.Round, nearest(o.in.Round, o.fields["round"]), 1, math.MaxInt)
}

// past has what ends a row of reviews without progress and leaves everything else
// as it is: one of a destination's findings gone, or one of them new.
func (o *options) past() {
	if !o.in.NoProgress && !o.fine {
		return
	}
	var d dimension
	for _, name := range o.ranked {
		if n := o.in.Routes[name]; n > 1 && !o.fine { // else findings has it
			d = append(d, counted(Findings, name, n, n-1))
		}
	}
	if o.in.RepeatCount > 0 {
		d = append(d, counted(News, "", o.in.NewCount, o.in.NewCount+1))
	}
	o.add(d)
}

func (o *options) stall() {
	if o.in.NoProgress {
		o.counts(Stall, "", o.in.StalledRounds, nearest(o.in.StalledRounds, o.fields["stalled_rounds"]), 1, math.MaxInt)
	}
}

// nearest returns, for each of the numbers, the counts nearest to n below it, at
// it and above it, without the one of n's own side.
func nearest(n int, numbers []int) []int {
	var found []int
	for _, k := range numbers {
		if n >= k && k > math.MinInt {
			found = append(found, k-1)
		}
		if n != k {
			found = append(found, k)
		}
		if n <= k && k < math.MaxInt {
			found = append(found, k+1)
		}
	}
	return found
}
