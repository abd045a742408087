package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Spread summarises a distribution. All fields but Count are in the distribution's unit, and
// 0 if Count is 0.
type Spread struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	// Median and P90 are the 0.5 and 0.9 quantiles, accurate to a cell of about 9 %
	// unless the scale is exact.
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// cell is a cell of a distribution with its count. Its values are greater than lower and at
// most upper. If the two are equal, all its values are equal to them.
type cell struct {
	lower, upper float64
	count        int64
}

// cellOf returns the cell with a name. ok is false for a name that is not on the scale.
func cellOf(s counters.Scale, name string, count int64) (c cell, ok bool) {
	number, zero, ok := s.ParseCell(name)
	if zero || !ok {
		return cell{count: count}, ok
	}
	c = cell{s.Upper(number - 1), s.Upper(number), count}
	if s.Exact {
		c.lower = c.upper
	}
	return c, true
}

// spreadOf summarises the cells, which it sorts. sum is in the unit.
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

// quantile returns the q-quantile of the values, q in [0, 1]. The cells are sorted and
// count at least one value.
//
// It interpolates logarithmically within a cell, as Prometheus does for native
// histograms: the cells have equal widths on that scale.
func quantile(cells []cell, q float64) float64 {
	var total int64
	for _, c := range cells {
		total = plus(total, c.count)
	}
	// The conversion rounds, so that no processor fuses the product with a later sum.
	rank, before := float64(q*float64(total)), 0.0
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
	return last.upper // The rank was rounded to more than the total.
}

// within returns the value at a fraction of a cell.
func within(c cell, part float64) float64 {
	if c.lower == c.upper {
		return c.upper
	}
	return c.lower * math.Pow(c.upper/c.lower, part)
}

// plus adds two non-negative numbers, limited to math.MaxInt64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
