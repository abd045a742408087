package why_test

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/policies/why"
)

// A policy may take a second for each decision, and a search makes many.
func TestSlowPoliciesAreNotSearchedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as a search may take")
	}
	p := deciding(t, `decision := {"next_action": "stuck", "reason": "slow"} if count([x | some x in numbers.range(1, 400000)]) > 0`)
	in := policies.Input{Round: 1, MaxRounds: 3, Verify: policies.Green}
	start := time.Now()
	x, err := why.Explain(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	if !x.GaveUp || len(x.Flips) > 0 {
		t.Errorf("the search ended by itself after %d tries, with %+v", x.Tried, x.Flips)
	}
	if took := time.Since(start); took > 4*why.SearchTime {
		t.Errorf("it took %v", took)
	}
}
