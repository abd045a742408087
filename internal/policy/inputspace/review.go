package inputspace

import (
	"iter"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// review is a class of review results and their comparison with earlier reviews.
type review struct {
	routes   []span // by destination
	kinds    [kinds]span
	findings span // the range of their number, the sum of both routes and kinds
	resolved span
	stalled  span
	facts    facts
}

// maxTried bounds the search for classes if most combinations of numbers contradict each
// other. It is far more than any realistic policy needs.
const maxTried = 10 * maxClasses

// reviews lists every class of reviews, those with the fewest findings first, or reports
// that there are more than limit.
func (s scales) reviews(limit int) ([]review, bool) {
	least := 1 // every combination of routes is at least one class
	for _, route := range s.routes {
		if least *= len(route); least > limit {
			return nil, false
		}
	}
	var all []review
	facts := s.facts.all()
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
						if stalled != counts && r.stalls() == (stalled == zero) {
							continue
						}
						of := r.withFacts(facts)
						if len(all)+len(of) > limit {
							return nil, false
						}
						all = append(all, of...)
					}
				}
			}
		}
	}
	return all, true
}

// stalls reports whether the review made no progress: there are findings, all are repeats,
// and the last review's findings are all there. The count 0 is a span by itself, so all
// inputs of the class agree.
func (r review) stalls() bool {
	return r.findings != zero && r.kinds[fresh] == zero && r.kinds[reopened] == zero && r.resolved == zero
}

// chooser selects one review of a class.
type chooser struct {
	number func(span) int     // selects one of the span
	share  func(most int) int // how many of the remaining findings go here
	absent func() bool        // whether to omit a destination without findings
}

// write writes the review that choose selects to in.
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
	in.ResolvedCount, in.StalledRounds = choose.number(r.resolved), 0
	if in.NoProgress = in.IsStalled(); in.NoProgress {
		in.StalledRounds = max(choose.number(r.stalled), 1)
	}
	if in.Facts != nil {
		r.facts.write(in, choose)
	}
}

// fill selects one number from each span so that they add up to total, which must be
// possible. It starts with the minimum of each and offers shares of the rest, to the last
// span first.
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

// sum returns the span of all sums of one number from each span.
func sum(spans []span) span {
	total := zero
	for _, s := range spans {
		total = total.plus(s)
	}
	return total
}

// combinations yields every way to take one span from each list; the last list varies
// fastest. The caller owns the slices.
func combinations(lists [][]span) iter.Seq[[]span] {
	return func(yield func([]span) bool) {
		if len(lists) == 0 {
			yield(nil)
			return
		}
		last := len(lists) - 1
		for picked := range combinations(lists[:last]) {
			for _, s := range lists[last] {
				if !yield(append(slices.Clip(picked), s)) {
					return
				}
			}
		}
	}
}

// The positions of a round relative to the cap.
const (
	belowCap = "below" // There are rounds left.
	atCap    = "at"    // This is the last round.
	aboveCap = "above" // The cap was lowered later.
)

// setting is a class of the verification and the round.
type setting struct {
	verify           routing.Verify
	cap              string
	round, maxRounds span
	left             span
}

// settings lists every class of settings, or reports that there are more than limit.
func (s scales) settings(limit int) ([]setting, bool) {
	var all []setting
	for _, verify := range s.verify {
		for _, round := range s.round {
			for _, maxRounds := range s.maxRounds {
				for _, cap := range []string{belowCap, atCap, aboveCap} {
					for _, left := range s.left {
						c := setting{verify: verify, cap: cap, round: round, maxRounds: maxRounds, left: left}
						if c.rounds().empty() {
							continue
						}
						if len(all) == limit {
							return nil, false
						}
						all = append(all, c)
					}
				}
			}
		}
	}
	return all, true
}

// extended returns the part of the setting with rounds left, in which a task may go past
// its cap.
func (c setting) extended() setting {
	c.left = c.left.and(span{1, unbounded})
	return c
}

func (c setting) extendable() bool {
	e := c.extended()
	return c.verify != routing.Red && !e.left.empty() && !e.rounds().empty()
}

// rounds returns the rounds for which the setting has a cap.
func (c setting) rounds() span {
	round := c.round
	if c.left.lo >= 0 {
		round = round.and(span{1, routing.MaxRoundsLimit - c.left.lo})
	}
	switch c.cap {
	case belowCap:
		if c.left.hi < 1 {
			return span{1, 0}
		}
		return round.and(span{c.maxRounds.lo - c.left.hi, c.maxRounds.hi - 1})
	case atCap:
		if c.left.hi < 0 {
			return span{1, 0}
		}
		return round.and(c.maxRounds)
	default:
		return round.and(span{c.maxRounds.lo + 1, unbounded})
	}
}

// caps returns the caps that a round can have in the setting.
func (c setting) caps(round int) span {
	switch c.cap {
	case belowCap:
		return c.maxRounds.and(span{round + 1, round + c.left.hi})
	case atCap:
		return span{round, round}
	default:
		return c.maxRounds.and(span{1, round - 1})
	}
}

// write writes the setting to in; number selects one of a span.
func (c setting) write(in *routing.Input, number func(span) int) {
	in.Verify = c.verify
	in.Round = number(c.rounds())
	in.MaxRounds = number(c.caps(in.Round))
	if f := in.Facts; f != nil {
		f.HardCap = in.MaxRounds
		left := c.left.and(span{max(in.MaxRounds-in.Round, -1), max(routing.MaxRoundsLimit-in.Round, -1)})
		if n := number(left); n >= 0 {
			f.HardCap, f.RoundsLeft = in.Round+n, n
		}
	}
}
