package counters

import (
	"math"
	"sort"
	"strconv"
)

// Scale sorts the values of a distribution into cells.
//
// A cell is that of a native histogram of Prometheus: with a resolution of 2^s cells
// a doubling, the cell i holds what is greater than 2^((i-1)/2^s) and at most
// 2^(i/2^s) units. So every power of two is a border, and a classic histogram with
// such borders follows exactly from the cells.
type Scale struct {
	// PerUnit is how many of the whole numbers that are observed make a unit of the
	// histogram: 1000 where milliseconds are observed and shown as seconds.
	PerUnit int64
	// Exact says that a value is its own cell, for small numbers that are counts.
	Exact bool
}

// Resolution is the resolution of all scales but exact ones: 2^Schema cells a doubling,
// each some 9 % wide.
const Resolution = 3

// zeroCell holds what is nothing at all.
const zeroCell = "zero"

// maxExact is the greatest value that an exact scale tells from greater ones.
const maxExact = 1000

// Cell names the cell of a value. What is below 0 counts as 0.
func (s Scale) Cell(value int64) string {
	if value <= 0 {
		return zeroCell
	}
	if s.Exact {
		return strconv.FormatInt(min(value, maxExact), 10)
	}
	return strconv.Itoa(index(float64(value) / float64(s.PerUnit)))
}

// index is the number of the cell of a positive value.
func index(value float64) int {
	frac, exp := math.Frexp(value) // value = frac * 2^exp, frac in [0.5, 1)
	borders := borders()
	return sort.SearchFloat64s(borders[:], frac) + (exp-1)<<Resolution
}

// borders are the upper borders of the cells from one half to 1, except for 1:
// 2^(i/8)/2 for i from 0, to the last bit on every machine.
func borders() [1 << Resolution]float64 {
	return [...]float64{
		0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
		0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711,
	}
}

// ParseCell is the reverse of Cell: the cell's number, or zero.
func ParseCell(cell string) (number int, zero, ok bool) {
	if cell == zeroCell {
		return 0, true, true
	}
	n, err := strconv.Atoi(cell)
	return n, false, err == nil
}

// Upper is the upper border of a cell, in units.
func Upper(cell int) float64 {
	i := cell & (1<<Resolution - 1)
	exp := cell >> Resolution
	if i == 0 {
		return math.Ldexp(1, exp)
	}
	borders := borders()
	return math.Ldexp(borders[i], exp+1)
}
