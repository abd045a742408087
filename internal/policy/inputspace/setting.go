package inputspace

import "github.com/switchyard-dev/switchyard/internal/policy/routing"

// The positions of a round relative to the cap, as in Class.
const (
	// Below: there are rounds left.
	Below = "below"
	// At: this is the last round.
	At = "at"
	// Above: the cap was lowered later.
	Above = "above"
)

// setting is a class of the verification and the round.
type setting struct {
	verify           routing.Verify
	cap              string
	round, maxRounds span
}

// settings lists every class of settings, or reports that there are more than limit.
func (s scales) settings(limit int) ([]setting, bool) {
	var all []setting
	for _, verify := range []routing.Verify{routing.Green, routing.Absent, routing.Red} {
		for _, round := range s.round {
			for _, maxRounds := range s.maxRounds {
				for _, cap := range []string{Below, At, Above} {
					c := setting{verify: verify, cap: cap, round: round, maxRounds: maxRounds}
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
	return all, true
}

// rounds returns the rounds for which the setting has a cap.
func (c setting) rounds() span {
	switch c.cap {
	case Below:
		return c.round.and(span{1, c.maxRounds.hi - 1})
	case At:
		return c.round.and(c.maxRounds)
	default:
		return c.round.and(span{c.maxRounds.lo + 1, unbounded})
	}
}

// caps returns the caps that a round can have in the setting.
func (c setting) caps(round int) span {
	switch c.cap {
	case Below:
		return c.maxRounds.and(span{round + 1, unbounded})
	case At:
		return span{round, round}
	default:
		return c.maxRounds.and(span{1, round - 1})
	}
}

// smallest writes the smallest setting of the class.
func (c setting) smallest(in *routing.Input) {
	c.write(in, func(s span) int { return s.lo })
}

// write writes the setting to in; number selects one of a span.
func (c setting) write(in *routing.Input, number func(span) int) {
	in.Verify = c.verify
	in.Round = number(c.rounds())
	in.MaxRounds = number(c.caps(in.Round))
}
