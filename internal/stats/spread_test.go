package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// cellsOf sorts values into the cells of a scale, as the ledger does.
func cellsOf(t testing.TB, s counters.Scale, values []int64) []cell {
	t.Helper()
	counts := make(map[string]int64)
	for _, v := range values {
		counts[s.Cell(v)]++
	}
	var cells []cell
	for name, n := range counts {
		c, ok := cellOf(s, name, n)
		if !ok {
			t.Fatalf("the scale's own cell %q is none", name)
		}
		cells = append(cells, c)
	}
	return cells
}

func TestSpreadOfExactValues(t *testing.T) {
	t.Parallel()
	exact := counters.Scale{PerUnit: 1, Exact: true}
	for _, c := range []struct {
		name        string
		values      []int64
		median, p90 float64
	}{
		{"one", []int64{3}, 3, 3},
		{"odd", []int64{1, 2, 9}, 2, 9},
		{"even", []int64{1, 2, 3, 9}, 2, 9},
		{"equal", []int64{4, 4, 4, 4}, 4, 4},
		{"ten", []int64{1, 1, 1, 1, 1, 2, 2, 3, 4, 5}, 1, 4},
		{"none of them", []int64{0, 0, 1}, 0, 1},
	} {
		var sum float64
		for _, v := range c.values {
			sum += float64(v)
		}
		got := spreadOf(cellsOf(t, exact, c.values), sum)
		want := Spread{Count: int64(len(c.values)), Mean: sum / float64(len(c.values)), Median: c.median, P90: c.p90}
		if got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
	if got := spreadOf(nil, 0); got != (Spread{}) {
		t.Errorf("nothing observed: %+v", got)
	}
}

// TestQuantileGoesByTheLogarithmWithinACell has four values in the cell from 1 to
// 2^(1/8): the first is a quarter of the way through it, logarithmically.
func TestQuantileGoesByTheLogarithmWithinACell(t *testing.T) {
	t.Parallel()
	cells := []cell{{1, 4, 4}}
	for q, want := range map[float64]float64{0: 1, 0.25: math.Sqrt2, 0.5: 2, 0.75: 2 * math.Sqrt2, 1: 4} {
		if got := quantile(cells, q); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v of (1, 4] is %v, want %v", q, got, want)
		}
	}
	both := []cell{{0, 0, 0}, {1, 2, 1}, {8, 16, 1}}
	if got := quantile(both, 0.5); got != 2 {
		t.Errorf("the median between two cells is %v, want the border 2", got)
	}
	if got := quantile(both, 1); got != 16 {
		t.Errorf("the greatest is %v, want the border 16", got)
	}
}

// TestQuantileIsThatOfTheValues checks that a quantile is accurate to one cell, and
// monotonic.
func TestQuantileIsThatOfTheValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scale := counters.Scale{PerUnit: rapid.SampledFrom([]int64{1, 1000, 1_000_000}).Draw(t, "per unit")}
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 10), rapid.Int64Range(0, 1<<50)), 1, 60).Draw(t, "values")
		counts := make(map[string]int64)
		for _, v := range values {
			counts[scale.Cell(v)]++
		}
		var cells []cell
		for name, n := range counts {
			c, ok := cellOf(scale, name, n)
			if !ok {
				t.Fatalf("the scale's own cell %q is none", name)
			}
			cells = append(cells, c)
		}
		if s := spreadOf(cells, 1); s.Count != int64(len(values)) || s.Median > s.P90 {
			t.Fatalf("%+v of %d values", s, len(values))
		}
		slices.Sort(values)
		before := 0.0
		for percent := range 101 {
			q := float64(percent) / 100
			got := quantile(cells, q)
			if got < before {
				t.Fatalf("quantile %v is %v, below the one before, %v", q, got, before)
			}
			before = got
			rank := max(1, int(math.Ceil(q*float64(len(values)))))
			exact := float64(values[rank-1]) / float64(scale.PerUnit)
			if exact == 0 {
				if got != 0 {
					t.Fatalf("quantile %v is %v, want 0", q, got)
				}
				continue
			}
			if off := math.Abs(math.Log2(got / exact)); off > 1.0/8+1e-9 {
				t.Fatalf("quantile %v is %v, more than a cell away from %v", q, got, exact)
			}
		}
	})
}

func TestCellsThatNoScaleGives(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		exact bool
	}{{"", false}, {"x", false}, {"99999999999999999999", false}, {"100000", false}, {"-100000", false}, {"0", true}, {"-1", true}} {
		if got, ok := cellOf(counters.Scale{PerUnit: 1, Exact: c.exact}, c.name, 1); ok {
			t.Errorf("%q, exact %v: %+v", c.name, c.exact, got)
		}
	}
}

func TestPlusStopsAtTheGreatest(t *testing.T) {
	t.Parallel()
	if got := plus(math.MaxInt64-1, 5); got != math.MaxInt64 {
		t.Errorf("got %d", got)
	}
	if got := plus(2, 3); got != 5 {
		t.Errorf("got %d", got)
	}
}
