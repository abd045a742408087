package routing_test

import (
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// A function is read with the arguments of all its callers, even if the whole package is
// referenced before.
func TestThresholdsBehindAWholePackage(t *testing.T) {
	for _, naming := range []string{"is_object(data.other)", "data.other", "some name; data.other[name]"} {
		p, err := routing.Loader{}.FromSources(t.Context(), "p", []routing.Source{
			{Name: "routing.rego", Text: goodMetadata + goodTables + `
decision := {"next_action": "stuck", "reason": "a"} if {
	` + naming + `
	data.other.f(input.finding_count)
} else := {"next_action": "fixer", "reason": "b"}
`},
			{Name: "other.rego", Text: "package other\n\nr := 1\n\nf(n) if n == 771234\n"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Thresholds(routing.DecisionRule); len(got.Unknown) != 0 || !slices.Equal(got.Fields["finding_count"], []int{771234}) {
			t.Errorf("%s: thresholds are %v, unknown %v", naming, got.Fields, got.Unknown)
		}
	}
}
