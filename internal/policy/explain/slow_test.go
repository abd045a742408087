package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// A policy may take a second for each decision, and a search makes many decisions. Here a
// decision takes some hundredths of a second, so that even on a busy machine none takes a
// second, and even on a fast one the search takes longer than it may.
func TestSlowPoliciesAreNotSearchedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it takes as long as a search may take")
	}
	e := explainMany(t, `decision := {"next_action": "stuck", "reason": "slow"} if count([x | some x in numbers.range(1, 80000)]) > 0`)
	if !e.GaveUp || len(e.Counterfactuals) > 0 || e.Tried >= explain.MaxTried {
		t.Errorf("the search ended by itself after %d tries, with %+v", e.Tried, e.Counterfactuals)
	}
}

// The same holds for the bar.
func TestSlowBarsAreNotSearchedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it takes as long as a search may take")
	}
	var bar strings.Builder
	bar.WriteString(`"fail" if count([x | some x in numbers.range(1, 20000)]) == 0`)
	for n := range 900 { // each is a threshold to try; one set may have a hundred
		if n%90 == 0 {
			bar.WriteString(` else := "risk" if input.reviews_since_low in {-1`)
		}
		fmt.Fprintf(&bar, ", %d", n+1)
		if n%90 == 89 {
			bar.WriteString("}")
		}
	}
	p := barred(t, bar.String()+` else := "all"`)
	e, err := explain.ExplainBar(t.Context(), p, routing.Input{
		Round: 1, MaxRounds: 3, FindingCount: 1, Routes: map[string]int{"executor": 1}, Verify: routing.Green, NewCount: 1,
		Facts: &routing.Facts{HardCap: 6, RoundsLeft: 5, FirstTimeCount: 1, Confinement: confinement.None},
	})
	if err != nil || len(e.Changes) > 0 {
		t.Errorf("the search ended by itself, with %+v, %v", e, err)
	}
}
