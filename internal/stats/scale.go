package stats

import "math"

// niceTop returns the top of an axis for values up to most: a round number of at least
// least, whose half is also round.
func niceTop(most, least float64) float64 {
	if most <= least {
		return least
	}
	ten := math.Pow(10, math.Floor(math.Log10(most)))
	for _, step := range []float64{1, 2, 3, 4, 5, 6, 8, 10} {
		if ten < 10 && (step == 3 || step == 5) {
			continue // Half a round does not exist.
		}
		if top := step * ten; top >= most {
			return top
		}
	}
	return 10 * ten // The logarithm was rounded.
}
