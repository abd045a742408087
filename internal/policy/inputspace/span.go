package inputspace

import (
	"fmt"
	"slices"
)

// unbounded is above every count that a review can have, and small enough that the sum of
// one for each destination does not overflow.
const unbounded = 1 << 50

// span is the whole numbers from lo to hi, inclusive. It is empty if lo is above hi.
type span struct{ lo, hi int }

var zero = span{}

func (s span) empty() bool { return s.lo > s.hi }

func (s span) and(other span) span { return span{max(s.lo, other.lo), min(s.hi, other.hi)} }

// plus returns the span of all sums of a number of each.
func (s span) plus(other span) span {
	return span{s.lo + other.lo, min(s.hi+other.hi, unbounded)}
}

// String formats the span as 3, 3..5 or 3+.
func (s span) String() string {
	switch s.hi {
	case s.lo:
		return fmt.Sprint(s.lo)
	case unbounded:
		return fmt.Sprintf("%d+", s.lo)
	default:
		return fmt.Sprintf("%d..%d", s.lo, s.hi)
	}
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
