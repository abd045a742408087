package oracle

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestCell compares the exact arithmetic with floating point near the borders.
func TestCell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, perUnit int64
		want           int
	}{
		{1, 1, 0}, {2, 1, 8}, {3, 1, 13}, // 2^(12/8) = 2.83, 2^(13/8) = 3.08
		{1000, 1000, 0}, {1001, 1000, 1}, {999, 1000, 0}, {918, 1000, 0}, {917, 1000, -1}, // 2^(-1/8) = 0.917004
		{500, 1000, -8}, {501, 1000, -7}, {1, 1_000_000, -159}, // log2(1e-6)*8 = -159.45
		{math.MaxInt64, 1, 63 * 8},
	} {
		if got := cell(c.value, c.perUnit); got != c.want {
			t.Errorf("%d/%d lies in cell %d, want %d", c.value, c.perUnit, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Int64Range(1, math.MaxInt64).Draw(t, "value") >> rapid.IntRange(0, 62).Draw(t, "shift")
		value = max(value, 1)
		perUnit := rapid.SampledFrom([]int64{1, 1000, 1_000_000}).Draw(t, "unit")
		x, i := float64(value)/float64(perUnit), float64(cell(value, perUnit))
		const near = 1e-12
		if x > math.Exp2(i/8)*(1+near) || x <= math.Exp2((i-1)/8)*(1-near) {
			t.Fatalf("%v lies in cell %v", x, i)
		}
	})
}

// TestThousandths checks the limit for a task that has used more than its budget.
func TestThousandths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ part, whole, want int64 }{
		{0, 7, 0}, {1, 3, 333}, {2, 3, 666}, {3, 3, 1000}, {1, 2000, 0},
		{math.MaxInt64, math.MaxInt64, 1000}, {math.MaxInt64, 1, 999_999}, {1_000_000, 1, 999_999}, {999_999, 1000, 999_999}, {999, 1, 999_000},
	} {
		if got := thousandths(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d are %d thousandths, want %d", c.part, c.whole, got, c.want)
		}
	}
}
