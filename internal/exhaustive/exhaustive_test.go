package exhaustive_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
)

func TestSample(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		value string
		n     int
		want  []int
	}{
		{"", 2, []int{0, 9}},
		{"", 4, []int{0, 3, 6, 9}},
		{"", 10, cases},
		{"", 11, cases},
		{"1", 2, cases},
	} {
		t.Setenv("SWITCHYARD_EXHAUSTIVE", c.value)
		if got := exhaustive.Sample(cases, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q: %d of %v are %v, want %v", c.value, c.n, cases, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for value, want := range map[string]int{"": 3, "1": 50} {
		t.Setenv("SWITCHYARD_EXHAUSTIVE", value)
		if got := exhaustive.Count(3, 50); got != want || exhaustive.Enabled() != (want == 50) {
			t.Errorf("%q: %d times, want %d", value, got, want)
		}
	}
}

func TestRequire(t *testing.T) {
	for value, want := range map[string]bool{"": true, "1": false} {
		t.Setenv("SWITCHYARD_EXHAUSTIVE", value)
		skipped := false
		t.Run(value, func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			exhaustive.Require(t, "a test of the skip itself")
		})
		if skipped != want {
			t.Errorf("%q: skipped is %v, want %v", value, skipped, want)
		}
	}
}
