package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Spread is what the cells and the sum of a distribution tell. All but Count are in
// the distribution's unit, and 0 where nothing was observed.
type Spread struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	// Median and P90 are what half and nine tenths of the values do not exceed. A
	// scale that is not exact knows them to within its cells, some 9 % wide.
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// cell is a cell of a distribution with what it counts: values that are greater than
// lower and at most upper, or that are both where the two are equal.
type cell struct {
	lower, upper float64
	count        int64
}

// cellOf makes a cell of its name. It is not ok for a name that the scale does not
// give, and for one whose values no float64 holds.
func cellOf(s counters.Scale, name string, count int64) (c cell, ok bool) {
	number, zero, ok := counters.ParseCell(name)
	switch {
	case !ok:
		return cell{}, false
	case zero:
		return cell{count: count}, true
	case s.Exact:
		return cell{float64(number), float64(number), count}, number > 0
	}
	c = cell{counters.Upper(number - 1), counters.Upper(number), count}
	return c, c.lower > 0 && !math.IsInf(c.upper, 1)
}

// spreadOf sums the cells up, which it sorts. The sum is in the unit.
func spreadOf(cells []cell, sum float64) Spread {
	slices.SortFunc(cells, func(a, b cell) int { return cmp.Compare(a.upper, b.upper) })
	var s Spread
	for _, c := range cells {
		s.Count = plus(s.Count, c.count)
	}
	if s.Count > 0 {
		s.Mean = sum / float64(s.Count)
		s.Median, s.P90 = quantile(cells, 0.5), quantile(cells, 0.9)
	}
	return s
}

// quantile is the value that the part q of all values does not exceed, q in [0, 1].
// The cells are in order and count at least one value.
//
// Within a cell it goes by the logarithm, as Prometheus does for native histograms:
// the cells have equal widths on that scale, so that values spread evenly over it
// are the likeliest guess.
func quantile(cells []cell, q float64) float64 {
	var total int64
	for _, c := range cells {
		total = plus(total, c.count)
	}
	rank, before := q*float64(total), 0.0
	last := cell{}
	for _, c := range cells {
		if c.count == 0 {
			continue
		}
		last = c
		if before+float64(c.count) >= rank {
			return within(c, (rank-before)/float64(c.count))
		}
		before += float64(c.count)
	}
	return last.upper // Rounding has let the rank exceed all of them.
}

// within is the value at a part of a cell.
func within(c cell, part float64) float64 {
	if c.lower == c.upper {
		return c.upper
	}
	return c.lower * math.Pow(c.upper/c.lower, part)
}

// plus adds two numbers that are not negative, and stops at the greatest there is.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
