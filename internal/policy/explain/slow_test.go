package explain_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
)

// A policy may take a second for each decision, and a search makes many decisions.
func TestSlowPoliciesAreNotSearchedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it takes as long as a search may take")
	}
	// All inputs would take minutes.
	e := explainMany(t, `decision := {"next_action": "stuck", "reason": "slow"} if count([x | some x in numbers.range(1, 100000)]) > 0`)
	if !e.GaveUp || len(e.Counterfactuals) > 0 || e.Tried >= explain.MaxTried {
		t.Errorf("the search ended by itself after %d tries, with %+v", e.Tried, e.Counterfactuals)
	}
}
