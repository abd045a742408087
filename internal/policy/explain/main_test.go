package explain_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// header is a small policy without its decision.
const header = `# METADATA
# title: Small
# custom:
#   version: 1.0.0
#   adr: ADR-0001
package switchyard.routing

destinations := {
	"stuck": {"kind": "terminal", "advances_round": false},
	"commit": {"kind": "terminal", "advances_round": false},
	"user": {"kind": "human", "advances_round": true},
	"fixer": {"kind": "agent", "advances_round": true},
}

route_table := {"question": "user", "typo": "fixer"}

precedence := ["stuck", "user", "fixer"]

`

// deciding returns a small policy with that decision.
func deciding(t testing.TB, decision string) *routing.Policy {
	t.Helper()
	p, err := routing.Loader{}.FromSources(t.Context(), "small", []routing.Source{{Name: "routing.rego", Text: header + decision}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func load(t testing.TB) *routing.Policy {
	t.Helper()
	p, err := policies.Load(t.Context(), "routing@1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func explanationOf(t testing.TB, p *routing.Policy, in routing.Input) explain.Explanation {
	t.Helper()
	e, err := explain.Explain(t.Context(), p, in)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// input returns a round whose findings are all new.
func input(round, maxRounds int, verify routing.Verify, routes map[string]int) routing.Input {
	in := routing.Input{Round: round, MaxRounds: maxRounds, Routes: routes, Verify: verify}
	for _, n := range routes {
		in.FindingCount += n
		in.NewCount += n
	}
	return in
}

// stalled returns in with a number of reviews without progress.
func stalled(in routing.Input, reviews int) routing.Input {
	in.NewCount, in.RepeatCount = 0, in.FindingCount
	in.NoProgress, in.StalledRounds = true, reviews
	return in
}

// reported formats each counterfactual as a line.
func reported(flips []explain.Counterfactual) string {
	lines := make([]string, len(flips))
	for i, f := range flips {
		lines[i] = f.Words() + ": " + f.Decision.NextAction + " (" + f.Decision.Reason + ")"
	}
	return strings.Join(lines, "\n")
}
