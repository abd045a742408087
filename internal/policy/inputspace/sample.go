package inputspace

import (
	"maps"
	"math/rand/v2"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

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
		if !same(in, smallest) {
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

func same(a, b routing.Input) bool {
	if !maps.Equal(a.Routes, b.Routes) {
		return false
	}
	a.Routes, b.Routes = nil, nil
	return a.Round == b.Round && a.MaxRounds == b.MaxRounds && a.FindingCount == b.FindingCount &&
		a.NewCount == b.NewCount && a.RepeatCount == b.RepeatCount && a.ReopenedCount == b.ReopenedCount &&
		a.ResolvedCount == b.ResolvedCount && a.StalledRounds == b.StalledRounds
}
