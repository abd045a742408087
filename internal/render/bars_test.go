package render

import (
	"math"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestBars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part  float64
		cells int
		want  string
	}{
		{1, 4, "████"}, {0.5, 4, "██"}, {0.625, 4, "██▌"}, {0.001, 4, "▏"}, {0, 4, ""}, {-1, 4, ""}, {9, 4, "████"}, {math.NaN(), 4, ""}, {1, 0, ""},
	} {
		if got := drawBar(c.part, c.cells); got != c.want {
			t.Errorf("%v of %d cells is %q, want %q", c.part, c.cells, got, c.want)
		}
	}
}

// TestBarsGrow tests that a bar fits its cells, is visible for a count above 0, and is
// not longer than the bar of a greater part.
func TestBarsGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.IntRange(1, 80).Draw(t, "cells")
		less := rapid.Float64Range(0, 1).Draw(t, "less")
		more := rapid.Float64Range(less, 1).Draw(t, "more")
		short, long := drawBar(less, cells), drawBar(more, cells)
		if n := utf8.RuneCountInString(long); n > cells || n < utf8.RuneCountInString(short) {
			t.Fatalf("%v is %q, %v is %q", less, short, more, long)
		}
		if (short == "") != (less == 0) {
			t.Fatalf("%v is %q", less, short)
		}
	})
}
