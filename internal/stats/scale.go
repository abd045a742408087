package stats

import "math"

// niceTop is the top of an axis for values up to most: a round number whose half is
// round, too, and at least least.
func niceTop(most, least float64) float64 {
	if most <= least {
		return least
	}
	ten := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{1, 2, 3, 4, 5, 6, 8, 10} {
		if ten < 10 && (step == 3 || step == 5) {
			continue // There is no half of a round.
		}
		if top := step * ten; top >= most {
			return top
		}
	}
	return 10 * ten // Rounding of the logarithm.
}
