package counters_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// upper computes the bound 2^(cell/8) independently.
func upper(cell int) float64 { return math.Exp2(float64(cell) / (1 << counters.Resolution)) }

func TestCellsHoldWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perUnit := rapid.SampledFrom([]int64{1, 1000, 1_000_000}).Draw(t, "per unit")
		value := rapid.Int64Range(1, math.MaxInt64).Draw(t, "value")
		text := counters.Scale{PerUnit: perUnit}.Cell(value)
		cell, zero, ok := (counters.Scale{}).ParseCell(text)
		if !ok || zero {
			t.Fatalf("%d is in the cell %q", value, text)
		}
		v := float64(value) / float64(perUnit)
		const slack = 1e-12 // of math.Exp2, not of the cells
		if v > upper(cell)*(1+slack) || v <= upper(cell-1)*(1-slack) {
			t.Fatalf("%g is in the cell %d, from %g to %g", v, cell, upper(cell-1), upper(cell))
		}
		if u := (counters.Scale{}).Upper(cell); math.Abs(u-upper(cell)) > slack*u || v > u || v <= (counters.Scale{}).Upper(cell-1) {
			t.Fatalf("the cell %d of %g ends at %g", cell, v, u)
		}
	})
}

func TestPowersOfTwoAreBorders(t *testing.T) {
	for exponent := range 20 {
		for _, perUnit := range []int64{1, 1000, 1_000_000} {
			border := perUnit << exponent
			below, _, _ := (counters.Scale{}).ParseCell(counters.Scale{PerUnit: perUnit}.Cell(border))
			above, _, _ := (counters.Scale{}).ParseCell(counters.Scale{PerUnit: perUnit}.Cell(border + 1))
			if below > exponent<<counters.Resolution || above <= exponent<<counters.Resolution || (counters.Scale{}).Upper(below) != math.Ldexp(1, exponent) {
				t.Errorf("2^%d is in the cell %d, what is greater in %d", exponent, below, above)
			}
		}
	}
	// 2^-6 seconds are 15,625 microseconds.
	if cell, _, _ := (counters.Scale{}).ParseCell(counters.Scale{PerUnit: 1_000_000}.Cell(15_625)); cell != -6*8 || (counters.Scale{}).Upper(cell) != 0.015625 {
		t.Errorf("2^-6 is in the cell %d", cell)
	}
}

// TestBordersAreRight checks that the exact power of two is between the eighth powers of
// the floats two steps below and above each bound. The last bit of some bounds is
// Prometheus's, whose table we share, and not that of the nearest float.
func TestBordersAreRight(t *testing.T) {
	eighth := func(f float64) *big.Float {
		p := new(big.Float).SetPrec(2000).SetFloat64(f)
		for range 3 {
			p.Mul(p, p)
		}
		return p
	}
	for cell := range 8 {
		border := (counters.Scale{}).Upper(cell)
		want := new(big.Float).SetMantExp(big.NewFloat(1), cell)
		below, above := math.Nextafter(border, 0), math.Nextafter(border, 3)
		below, above = math.Nextafter(below, 0), math.Nextafter(above, 3)
		if eighth(below).Cmp(want) >= 0 || eighth(above).Cmp(want) <= 0 {
			t.Errorf("the border of cell %d is %v", cell, border)
		}
	}
}

func TestCellsOfSmallNumbers(t *testing.T) {
	exact := counters.Scale{PerUnit: 1, Exact: true}
	for value, want := range map[int64]string{
		math.MinInt64: "zero", -1: "zero", 0: "zero", 1: "1", 7: "7", 1000: "1000", 1001: "1000", math.MaxInt64: "1000",
	} {
		if got := exact.Cell(value); got != want {
			t.Errorf("%d is in the exact cell %q, want %q", value, got, want)
		}
		if _, _, ok := exact.ParseCell(strconv.FormatInt(value, 10)); ok != (0 < value && value <= 1000) {
			t.Errorf("the exact cell %d: %t", value, ok)
		}
		if got := (counters.Scale{PerUnit: 1000}).Cell(value); (got == "zero") != (want == "zero") {
			t.Errorf("%d is in the cell %q", value, got)
		}
	}
	for text, ok := range map[string]bool{"zero": true, "-80": true, "0": true, "": false, "other": false, "1.5": false, "01": false, "1025": false, "-1025": false, "-9223372036854775808": false} {
		if n, zero, got := (counters.Scale{}).ParseCell(text); got != ok || zero != (text == "zero") || ok && !zero && strconv.Itoa(n) != text {
			t.Errorf("the cell %q is %d, %t, %t", text, n, zero, got)
		}
	}
}
