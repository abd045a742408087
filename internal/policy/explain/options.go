package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// dimension is a list of mutually exclusive elementary changes, such as all changes of the
// verification. It is sorted by cost.
type dimension []Change

// options builds the dimensions of an input.
type options struct {
	in         routing.Input
	ranked     []string         // routing.Policy.Precedence
	fields     map[string][]int // routing.Thresholds
	fine       bool             // try every count nearby
	dimensions []dimension
}

// reach is the distance from a destination's count within which every count is tried.
const reach = 8

// dimensionsOf lists every elementary change of in that can matter to p.
//
// Counts between two neighbouring thresholds get the same decision (routing.Thresholds),
// so the nearest count on every other side of a threshold is enough. It always tries to
// remove all findings for a destination, and to add one to a destination without findings.
//
// It tries every count within reach only if the policy adds up findings, or uses them in a
// way that cannot be bounded: then several destinations may have to change together.
func dimensionsOf(p *routing.Policy, in routing.Input) []dimension {
	t := p.Thresholds(routing.DecisionRule)
	o := options{in: in, ranked: p.Precedence(), fields: t.Fields, fine: len(t.Unknown) > 0}
	for _, field := range []string{"finding_count", "new_count", "repeat_count", "reopened_count", "resolved_count"} {
		// The destinations already cover the comparison of finding_count with zero.
		o.fine = o.fine || slices.ContainsFunc(t.Fields[field], func(k int) bool { return k != 0 || field != "finding_count" })
	}
	for _, name := range o.ranked {
		o.findings(name)
	}
	var verify dimension
	for _, v := range []routing.Verify{routing.Green, routing.Absent, routing.Red} {
		if v != in.Verify {
			verify = append(verify, Change{Kind: Verification, Verify: &Verify{in.Verify, v}})
		}
	}
	o.add(verify)
	caps := append(nearest(in.MaxRounds, t.Fields["max_rounds"]), nearest(in.MaxRounds, []int{in.Round})...)
	o.counts(Change{Kind: Cap}, in.MaxRounds, caps, 1, routing.MaxRoundsLimit)
	o.counts(Change{Kind: Round}, in.Round, nearest(in.Round, t.Fields["round"]), 1, math.MaxInt)
	o.past()
	if in.NoProgress {
		o.counts(Change{Kind: Stall}, in.StalledRounds, nearest(in.StalledRounds, t.Fields["stalled_rounds"]), 1, math.MaxInt)
	}
	if in.Facts != nil {
		o.facts(t)
	}
	return o.dimensions
}

// facts adds the facts that the decision of a policy with a bar reads.
func (o *options) facts(t routing.Thresholds) {
	if slices.Contains(t.Reads, mayExtend) {
		from := 0
		if o.in.MayExtend {
			from = 1
		}
		o.counts(Change{Kind: Fact, Fact: mayExtend}, from, []int{0, 1}, 0, 1)
	}
	if slices.Contains(t.Reads, confinementLevel) {
		levels := confinement.Levels()
		var all []int
		for i := range levels {
			all = append(all, i)
		}
		o.counts(Change{Kind: Fact, Fact: confinementLevel}, slices.Index(levels, o.in.Confinement), all, 0, len(levels)-1)
	}
	o.counts(Change{Kind: Fact, Fact: inducedRounds}, o.in.InducedRounds, nearest(o.in.InducedRounds, t.Fields[inducedRounds]), 0, math.MaxInt)
}

func (o *options) add(d dimension) {
	if len(d) == 0 {
		return
	}
	for i := range d {
		d[i].Words = d[i].words()
	}
	slices.SortStableFunc(d, func(a, b Change) int { return cmp.Compare(a.cost(), b.cost()) })
	o.dimensions = append(o.dimensions, d)
}

// counts adds a dimension with a copy of change for every other number in to that is from
// lo to hi.
func (o *options) counts(change Change, from int, to []int, lo, hi int) {
	slices.Sort(to)
	var d dimension
	for _, n := range slices.Compact(to) {
		if n != from && lo <= n && n <= hi {
			change.Count = &Count{from, n}
			d = append(d, change)
		}
	}
	o.add(d)
}

func (o *options) findings(destination string) {
	n := o.in.Routes[destination]
	to := append(nearest(n, o.fields["routes"]), nearest(n, o.fields["routes."+destination])...)
	to = append(to, 0)
	if n == 0 {
		to = append(to, 1)
	}
	if o.fine {
		for near := range reach { // without exceeding the largest int
			to = append(to, n-1-near, n+1+min(near, math.MaxInt-1-n))
		}
	}
	for _, all := range nearest(o.in.FindingCount, o.fields["finding_count"]) {
		if rest := o.in.FindingCount - n; all >= rest { // the other destinations keep their findings
			to = append(to, all-rest)
		}
	}
	o.counts(Change{Kind: Findings, Destination: destination}, n, to, 0, math.MaxInt)
}

// past adds the changes that end a stall and keep everything else: one of a destination's
// findings removed, or one of them new.
func (o *options) past() {
	if !o.in.NoProgress && !o.fine {
		return
	}
	var d dimension
	for _, name := range o.ranked {
		if n := o.in.Routes[name]; n > 1 && !o.fine { // otherwise findings covers it
			d = append(d, Change{Kind: Findings, Destination: name, Count: &Count{n, n - 1}})
		}
	}
	if o.in.RepeatCount > 0 {
		d = append(d, Change{Kind: News, Count: &Count{o.in.NewCount, o.in.NewCount + 1}})
	}
	o.add(d)
}

// nearest returns, for each of the numbers, the counts nearest to n below it, at it and
// above it, except on n's own side.
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
