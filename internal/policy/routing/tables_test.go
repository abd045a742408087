package routing_test

import (
	"maps"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// firstCategories is the whole table of 1.0.0, and economyCategories are the additions of
// 1.1.0; 1.2.0 adds none. They are listed so that no table change goes unnoticed.
var (
	firstCategories = map[string]string{
		// style
		"style": "executor", "dead-code": "executor", "dangling-thread": "executor", "todo-marker": "executor",
		"import-hygiene": "executor", "comment-hygiene": "executor", "lint-violation": "executor",
		// tests
		"missing-test": "executor", "edge-case-gap": "executor", "weak-assertion": "executor",
		"silenced-failure": "executor", "test-naming": "executor", "non-deterministic": "executor",
		"verify-mismatch": "executor",
		// acceptance
		"unmet-criterion": "executor", "scope-creep": "executor",
		"information-missing":       "researcher",
		"question-to-user":          "askuser",
		"locked-decision-violation": "plan-checker",
		"infrastructure-mismatch":   "plan-checker",
		// audit
		"rule-9-violation": "executor",
		// the critic itself
		"critic-error": "stuck", "stuck-detected": "stuck",
	}
	economyCategories = map[string]string{
		"over-engineering": "executor", "stdlib-reinvention": "executor", "native-duplication": "executor",
		"shrinkable": "executor", "skill-bar-unconsulted": "executor",
	}
)

func TestRouteTablesAreExactlyThese(t *testing.T) {
	if got := len(firstCategories); got != 23 {
		t.Fatalf("the test lists %d categories, not 23", got)
	}
	all := maps.Clone(firstCategories)
	maps.Copy(all, economyCategories)
	if got := len(all); got != 28 {
		t.Fatalf("the test lists %d categories, not 28", got)
	}
	for ref, want := range map[string]map[string]string{
		"routing@1.0.0": firstCategories, "routing@1.1.0": all, "routing@1.2.0": all,
	} {
		p := load(t, ref)
		if got := p.RouteTable(); !maps.Equal(got, want) {
			t.Errorf("%s: route table is %v, want %v", ref, got, want)
		}
		for category, destination := range want {
			if got, known := p.Route(category); got != destination || !known {
				t.Errorf("%s: Route(%q) = %q, %t, want %q", ref, category, got, known, destination)
			}
		}
	}
}

func TestUnknownCategoriesGoToStuck(t *testing.T) {
	for _, ref := range policies.Versions() {
		for _, category := range []string{"", "Style", "style ", "unheard-of", "__proto__"} {
			if got, known := load(t, ref).Route(category); got != routing.Stuck || known {
				t.Errorf("%s: Route(%q) = %q, %t, want stuck and unknown", ref, category, got, known)
			}
		}
	}
}

func TestDestinationsAreExactlyThese(t *testing.T) {
	want := map[string]routing.Destination{
		"executor":     {Kind: routing.Agent, AdvancesRound: true},
		"researcher":   {Kind: routing.Agent, AdvancesRound: true},
		"askuser":      {Kind: routing.Human, AdvancesRound: true},
		"plan-checker": {Kind: routing.Agent},
		"stuck":        {Kind: routing.Terminal},
		"commit":       {Kind: routing.Terminal},
	}
	for _, ref := range policies.Versions() {
		p := load(t, ref)
		if got := p.Destinations(); !maps.Equal(got, want) {
			t.Errorf("%s: destinations are %v, want %v", ref, got, want)
		}
		for name, d := range want {
			if got, ok := p.Destination(name); got != d || !ok {
				t.Errorf("%s: Destination(%q) = %v, %t", ref, name, got, ok)
			}
		}
		if _, ok := p.Destination("nowhere"); ok {
			t.Errorf("%s: a destination that nobody declared", ref)
		}
	}
}

// Callers may modify the returned values.
func TestTablesCannotBeChangedFromOutside(t *testing.T) {
	p := load(t, policies.Default)
	clear(p.RouteTable())
	clear(p.Destinations())
	clear(p.Precedence())
	if to, known := p.Route("style"); to != "executor" || !known {
		t.Errorf("Route(style) = %q, %t", to, known)
	}
	if got, err := p.Decide(t.Context(), clean()); err != nil || got.NextAction != routing.Commit {
		t.Errorf("Decide = %+v, %v", got, err)
	}
}
