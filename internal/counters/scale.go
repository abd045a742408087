package counters

import (
	"math"
	"sort"
	"strconv"
)

// Scale sorts the values of a distribution into cells.
//
// Cells are the buckets of Prometheus' native histograms: with a resolution of 2^s cells
// per doubling, the cell i has the values greater than 2^((i-1)/2^s) and at most 2^(i/2^s)
// units. So every power of two is a bound, and a classic histogram with such bounds
// follows exactly from the cells.
type Scale struct {
	// PerUnit is the number of observed units per unit of the histogram: 1000 if
	// milliseconds are observed and shown as seconds.
	PerUnit int64
	// Exact gives each value its own cell, for small counts.
	Exact bool
}

// Resolution is the resolution of all scales except exact ones: 2^Resolution cells per
// doubling, each about 9 % wide.
const Resolution = 3

const zeroCell = "zero"

// maxExact is the highest cell of an exact scale; it also has greater values.
const maxExact = 1000

// Cell returns the name of the cell of a value. A negative value counts as 0.
func (s Scale) Cell(value int64) string {
	if value <= 0 {
		return zeroCell
	}
	if s.Exact {
		return strconv.FormatInt(min(value, maxExact), 10)
	}
	return strconv.Itoa(index(float64(value) / float64(s.PerUnit)))
}

// index returns the number of the cell of a positive value.
func index(value float64) int {
	frac, exp := math.Frexp(value) // value = frac * 2^exp, frac in [0.5, 1)
	borders := borders()
	return sort.SearchFloat64s(borders[:], frac) + (exp-1)<<Resolution
}

// borders returns the upper bounds of the cells from 1/2 to just below 1: 2^(i/8)/2 for i
// from 0, with the same bits on every machine.
func borders() [1 << Resolution]float64 {
	return [...]float64{
		0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
		0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
	}
}

// maxCell bounds the number of a cell: every 64-bit integer fits, in any unit.
const maxCell = 128 << Resolution

// ParseCell is the inverse of Cell. It returns the cell's number, or that it is zeroCell.
// ok is false if the scale has no cell of this name.
func (s Scale) ParseCell(cell string) (number int, zero, ok bool) {
	if cell == zeroCell {
		return 0, true, true
	}
	n, err := strconv.Atoi(cell)
	possible := -maxCell <= n && n <= maxCell
	if s.Exact {
		possible = 0 < n && n <= maxExact
	}
	return n, false, err == nil && strconv.Itoa(n) == cell && possible
}

// Upper returns the upper bound of a cell, in units.
func (s Scale) Upper(cell int) float64 {
	if s.Exact {
		return float64(cell)
	}
	i := cell & (1<<Resolution - 1)
	exp := cell >> Resolution
	if i == 0 {
		return math.Ldexp(1, exp)
	}
	borders := borders()
	return math.Ldexp(borders[i], exp+1)
}
