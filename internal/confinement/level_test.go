package confinement_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

func TestLevelsAreOrdered(t *testing.T) {
	levels := confinement.Levels()
	for i, a := range levels {
		for j, b := range levels {
			if got := a.AtLeast(b); got != (i >= j) {
				t.Errorf("%s.AtLeast(%s) is %v", a, b, got)
			}
			if got, want := confinement.Lowest(a, b), levels[min(i, j)]; got != want {
				t.Errorf("the lowest of %s and %s is %s, want %s", a, b, got, want)
			}
		}
		if !a.Known() || confinement.Level("").AtLeast(a) || confinement.Level("full").Known() {
			t.Errorf("%s is not distinguished from what is no level", a)
		}
	}
	if got := confinement.Lowest(); got != confinement.None {
		t.Errorf("the lowest of no level is %s", got)
	}
}
