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
		style BarStyle
		part  float64
		cells int
		want  string
	}{
		{BlockBars(), 1, 4, "████"}, {BlockBars(), 0.5, 4, "██"}, {BlockBars(), 0.625, 4, "██▌"}, {BlockBars(), 0.001, 4, "▏"}, {BlockBars(), 0, 4, ""},
		{HashBars(), 1, 4, "####"}, {HashBars(), 0.6, 4, "##"}, {HashBars(), 0.001, 4, "#"}, {HashBars(), -1, 4, ""}, {HashBars(), 9, 4, "####"},
		{HashBars(), math.NaN(), 4, ""}, {HashBars(), 1, 0, ""},
	} {
		if got := c.style.draw(c.part, c.cells); got != c.want {
			t.Errorf("%v of %d cells is %q, want %q", c.part, c.cells, got, c.want)
		}
	}
}

// TestBarsGrow tests that a bar fits its cells, is visible for a count above 0, and is
// not longer than the bar of a greater part.
func TestBarsGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		style := rapid.SampledFrom([]BarStyle{BlockBars(), HashBars()}).Draw(t, "style")
		cells := rapid.IntRange(1, 80).Draw(t, "cells")
		less := rapid.Float64Range(0, 1).Draw(t, "less")
		more := rapid.Float64Range(less, 1).Draw(t, "more")
		short, long := style.draw(less, cells), style.draw(more, cells)
		if n := utf8.RuneCountInString(long); n > cells || n < utf8.RuneCountInString(short) {
			t.Fatalf("%v is %q, %v is %q", less, short, more, long)
		}
		if (short == "") != (less == 0) {
			t.Fatalf("%v is %q", less, short)
		}
	})
}

func TestLocaleDecidesHowBarsAreDrawn(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "C.UTF-8", true}, {"", "", "de_DE.utf8@euro", true}, {"", "en_US.UTF-8", "C", true}, {"C", "en_US.UTF-8", "en_US.UTF-8", false},
		{"", "", "de_DE.ISO-8859-1", false}, {"", "", "POSIX", false}, {"", "", "en_US", false},
	} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_CTYPE", c.ctype)
		t.Setenv("LANG", c.lang)
		if got := ShowsBlocks(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
