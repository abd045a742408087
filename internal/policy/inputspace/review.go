package inputspace

import (
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// review is a class of what reviews found and how they compare with those before.
type review struct {
	routes   []span // by destination
	kinds    [kinds]span
	findings span // how many there can be: what routes and kinds both add up to
	resolved span
	stalled  span
}

// maxTried bounds the search for classes where most combinations of numbers
// contradict each other. It is far more than any policy needs that somebody wrote.
const maxTried = 10 * MaxClasses

// reviews lists every class of reviews, the emptiest first, or reports that there
// are more than limit.
func (s scales) reviews(limit int) ([]review, bool) {
	least := 1 // every combination of routes is a class at least
	for _, route := range s.routes {
		if least *= len(route); least > limit {
			return nil, false
		}
	}
	var all []review
	tried := 0
	for routed := range combinations(s.routes) {
		for kinds := range combinations(s.kinds[:]) {
			if tried++; tried > maxTried {
				return nil, false
			}
			can := sum(routed).and(sum(kinds))
			for _, findings := range s.findings {
				if findings = findings.and(can); findings.empty() {
					continue
				}
				for _, resolved := range s.resolved {
					for _, stalled := range s.stalled {
						r := review{routes: routed, kinds: [3]span(kinds), findings: findings, resolved: resolved, stalled: stalled}
						if r.stalls() == (stalled == zero) {
							continue
						}
						if len(all) == limit {
							return nil, false
						}
						all = append(all, r)
					}
				}
			}
		}
	}
	return all, true
}

// stalls says that nothing has moved: there are findings, all are repeats, and
// none was resolved. The spans of counts have 0 apart, so it is so for all of the
// class or for none of it.
func (r review) stalls() bool {
	return r.findings != zero && r.kinds[fresh] == zero && r.kinds[reopened] == zero && r.resolved == zero
}

// smallest writes the smallest review of the class. What must be somewhere but
// could be anywhere is with the weakest destination, and new.
func (r review) smallest(in *routing.Input, destinations []string) {
	r.write(in, destinations, chooser{
		number: func(s span) int { return s.lo },
		share:  func(most int) int { return most },
		absent: func() bool { return true },
	})
}

// chooser picks one review of a class.
type chooser struct {
	number func(span) int     // one of the span
	share  func(most int) int // how many of those left over go here
	absent func() bool        // whether a destination without findings is left out
}

// write makes in the review of the class that choose picks.
func (r review) write(in *routing.Input, destinations []string, choose chooser) {
	in.FindingCount = choose.number(r.findings)
	in.Routes = make(map[string]int, len(destinations))
	for i, n := range fill(r.routes, in.FindingCount, choose.share) {
		if n > 0 || !choose.absent() {
			in.Routes[destinations[i]] = n
		}
	}
	of := fill(r.kinds[:], in.FindingCount, choose.share)
	in.NewCount, in.RepeatCount, in.ReopenedCount = of[fresh], of[repeat], of[reopened]
	in.ResolvedCount = choose.number(r.resolved)
	in.NoProgress, in.StalledRounds = r.stalls(), choose.number(r.stalled)
}

// fill picks one number from each span so that they add up to total, which must be
// possible. Behind the least of each, the last is offered first a share of what is left.
func fill(spans []span, total int, share func(most int) int) []int {
	counts := make([]int, len(spans))
	left := total
	for i, s := range spans {
		counts[i] = s.lo
		left -= s.lo
	}
	give := func(share func(int) int) {
		for i := len(spans) - 1; i >= 0; i-- {
			n := share(min(left, spans[i].hi-counts[i]))
			counts[i] += n
			left -= n
		}
	}
	give(share)
	give(func(most int) int { return most })
	return counts
}

// sum is every sum of one number from each span.
func sum(spans []span) span {
	total := zero
	for _, s := range spans {
		total = total.plus(s)
	}
	return total
}

// combinations yields every way to take one span from each list, the last varying
// fastest. Each is the caller's.
func combinations(lists [][]span) func(yield func([]span) bool) {
	return func(yield func([]span) bool) {
		at := make([]int, len(lists))
		for {
			picked := make([]span, len(lists))
			for i, list := range lists {
				picked[i] = list[at[i]]
			}
			if !yield(picked) {
				return
			}
			i := len(at) - 1
			for ; i >= 0; i-- {
				if at[i]++; at[i] < len(lists[i]) {
					break
				}
				at[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}
