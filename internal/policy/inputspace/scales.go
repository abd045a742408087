package inputspace

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// unbounded is above every count that a review can have, and small enough that the sum of
// one for each destination does not overflow.
const unbounded = 1 << 50

// span is the whole numbers from lo to hi, inclusive. It is empty if lo is above hi.
type span struct{ lo, hi int }

// zero has only the count 0, and counts has all counts.
var (
	zero   = span{}
	counts = span{0, unbounded}
)

func (s span) empty() bool { return s.lo > s.hi }

func (s span) and(other span) span { return span{max(s.lo, other.lo), min(s.hi, other.hi)} }

// plus returns the span of all sums of a number of each.
func (s span) plus(other span) span {
	return span{s.lo + other.lo, min(s.hi+other.hi, unbounded)}
}

// split cuts s at thresholds: each threshold is a separate span, and so is each range
// between two of them. A comparison with a threshold has the same result for a whole
// span. Thresholds outside s are ignored.
func (s span) split(numbers []int) []span {
	numbers = slices.Clone(numbers)
	slices.Sort(numbers)
	var parts []span
	rest := s
	for _, n := range numbers {
		if n < rest.lo || n > rest.hi {
			continue
		}
		if n > rest.lo {
			parts = append(parts, span{rest.lo, n - 1})
		}
		parts = append(parts, span{n, n})
		rest.lo = n + 1
	}
	if !rest.empty() {
		parts = append(parts, rest)
	}
	return parts
}

// The kinds of findings. The last one is the default: findings are new unless a class
// requires another kind.
const (
	reopened = iota
	repeat
	fresh
	kinds
)

// kindFields returns the input fields that count the kinds.
func kindFields() [kinds]string {
	return [kinds]string{reopened: "reopened_count", repeat: "repeat_count", fresh: "new_count"}
}

// kindsOf counts the findings of each kind.
func kindsOf(in routing.Input) [kinds]int {
	return [kinds]int{reopened: in.ReopenedCount, repeat: in.RepeatCount, fresh: in.NewCount}
}

// scales holds the numbers of an input, each divided into spans that no rule
// distinguishes.
type scales struct {
	routes           [][]span // by destination
	kinds            [kinds][]span
	findings         []span
	resolved         []span
	stalled          []span
	round, maxRounds []span
	verify           []routing.Verify
	left             []span      // of rounds left; -1 is beyond the hard cap
	facts            *factScales // nil if no policy sees facts
}

// anyRoute is the name in routing.Thresholds for the count of any destination. The count
// of one destination has its name appended, as in "routes.executor".
const anyRoute = "routes"

// newScales divides every number at its thresholds. It always distinguishes zero from other
// counts, and one, two and more reviews without progress (ADR-0003), so that any two
// policies can be compared over these classes.
func newScales(destinations []string, u uses) scales {
	thresholds := u.thresholds
	reads := func(field string) bool {
		return !u.bar || slices.Contains(u.reads, field) || len(thresholds[field]) > 0
	}
	progress := reads("no_progress") || reads("stalled_rounds") // Both follow from the other counts.
	count := func(field string, always ...int) []span {
		if !reads(field) && !progress {
			always = nil
		}
		return counts.split(slices.Concat(always, thresholds[field]))
	}
	s := scales{
		routes:    make([][]span, len(destinations)),
		findings:  count("finding_count", 0),
		resolved:  count("resolved_count", 0),
		stalled:   count("stalled_rounds", 0, 2),
		round:     span{1, unbounded}.split(thresholds["round"]),
		maxRounds: span{1, routing.MaxRoundsLimit}.split(thresholds["max_rounds"]),
		verify:    []routing.Verify{routing.Green, routing.Absent, routing.Red},
		left:      []span{{-1, unbounded}},
	}
	if !reads("verify") {
		s.verify = s.verify[:1]
	}
	if u.facts {
		var last []int
		if slices.Contains(u.reads, "hard_cap") {
			last = []int{-1, 0}
		}
		s.left = span{-1, routing.MaxRoundsLimit}.split(slices.Concat(last, thresholds["rounds_left"]))
		s.facts = newFactScales(u)
	}
	for i, name := range destinations {
		s.routes[i] = count(anyRoute, slices.Concat([]int{0}, thresholds[anyRoute+"."+name])...)
	}
	for k, field := range kindFields() {
		s.kinds[k] = count(field, 0)
	}
	return s
}
