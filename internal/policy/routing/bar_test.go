package routing_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// barring writes a policy with the given bar.
func barring(t *testing.T, bar string) string {
	t.Helper()
	return policyDir(t, goodPolicy+bar+"\n")
}

// reviewed is an input with facts.
func reviewed() routing.Input {
	return routing.Input{
		Round: 2, MaxRounds: 3, FindingCount: 2, Routes: map[string]int{"fixer": 2}, Verify: routing.Green, NewCount: 2, ResolvedCount: 1,
		Facts: &routing.Facts{
			HardCap: 6, RoundsLeft: 4, FirstTimeCount: 3, ReviewsSinceLow: 2, BlockingCount: 1, DeferredCount: 1, Confinement: confinement.None,
		},
	}
}

func TestBar(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	induced := 2
	known := reviewed()
	known.InducedCount = &induced
	for _, engine := range engines {
		for _, c := range []struct {
			name, bar string
			in        routing.Input
			want      routing.Bar
			code      errs.Code
		}{
			{"a constant", `bar := "fail"`, reviewed(), routing.BarFail, ""},
			{"of the facts", `bar := "risk" if input.reviews_since_low >= 2 else := "all"`, reviewed(), routing.BarRisk, ""},
			{"computed", `bar := ["all", "risk", "fail"][input.reviews_since_low]`, reviewed(), routing.BarFail, ""},
			{"unknown induced findings are undefined", `bar := "fail" if input.induced_count >= 0 else := "all"`, reviewed(), routing.BarAll, ""},
			{"known induced findings", `bar := "fail" if input.induced_count >= 2 else := "all"`, known, routing.BarFail, ""},
			{"it does not see what it defers", `bar := "fail" if input.deferred_count >= 0 else := "all"`, reviewed(), routing.BarAll, ""},
			{"undefined", `bar := "risk" if input.reviews_since_low > 5`, reviewed(), "", errs.PolicyUndefined},
			{"two bars", "bar := \"risk\" if input.round > 0\nbar := \"fail\" if input.round > 1", reviewed(), "", errs.PolicyFailed},
			{"another word", `bar := concat("", ["no", "ne"])`, reviewed(), "", errs.PolicyInvalidBar},
			{"another case", `bar := upper("risk")`, reviewed(), "", errs.PolicyInvalidBar},
			{"a number", `bar := input.round`, reviewed(), "", errs.PolicyInvalidBar},
		} {
			got, err := loadOn(t, engine, barring(t, c.bar)).Bar(t.Context(), c.in)
			if got != c.want || errs.CodeOf(err) != c.code {
				t.Errorf("%s, %s: got %q, %v", engine, c.name, got, err)
			}
		}
	}
}

func TestBarsThatAreRefused(t *testing.T) {
	for bar, want := range map[string]string{
		`bar := "nit"`:              "bar must be one of all, risk, fail, and not",
		`bar := 1`:                  "bar must be one of all, risk, fail, and not",
		`bar := ["all"]`:            "bar must be one of all, risk, fail, and not",
		`bar contains "all"`:        "one value and not a set",
		`bar(x) := "all" if x == 1`: "a rule and not a function",
		`bar["all"] := true`:        "one value",
		`bar := "all" if input.reviews == 1 else := "risk"`: "input has no field",
	} {
		_, err := policies.Load(t.Context(), barring(t, bar))
		if errs.CodeOf(err) != errs.PolicyInvalid || !strings.Contains(problemsOf(t, err), want) {
			t.Errorf("%s: got %v, want %q", bar, err, want)
		}
	}
	// Only a policy with a bar sees facts.
	decision := `decision := {"next_action": "fixer", "reason": "routed"} if input.hard_cap > 1`
	_, err := policies.Load(t.Context(), policyDir(t, goodMetadata+goodTables+decision))
	if errs.CodeOf(err) != errs.PolicyInvalid {
		t.Errorf("facts without a bar: %v", err)
	}
	load(t, policyDir(t, goodMetadata+goodTables+decision+"\n"+`bar := "all"`))
}

func TestFactsThatContradictThemselves(t *testing.T) {
	p := load(t, barring(t, `bar := "all"`))
	if _, err := p.Decide(t.Context(), reviewed()); err != nil {
		t.Fatal(err)
	}
	many := 4
	for field, change := range map[string]func(*routing.Input){
		"hard_cap":          func(in *routing.Input) { in.HardCap, in.RoundsLeft = 2, 0 },
		"rounds_left":       func(in *routing.Input) { in.RoundsLeft = 3 },
		"blocking_count":    func(in *routing.Input) { in.BlockingCount = 3 },
		"first_time_count":  func(in *routing.Input) { in.FirstTimeCount = 4 },
		"induced_count":     func(in *routing.Input) { in.InducedCount = &many },
		"reviews_since_low": func(in *routing.Input) { in.FirstTimeCount = 0 },
		"induced_rounds":    func(in *routing.Input) { in.InducedRounds = 1 },
		"deferred_count":    func(in *routing.Input) { in.DeferredCount = -1 },
		"may_extend":        func(in *routing.Input) { in.MayExtend, in.Verify = true, routing.Red },
		"confinement":       func(in *routing.Input) { in.Confinement = "some" },
	} {
		in := reviewed()
		change(&in)
		_, err := p.Decide(t.Context(), in)
		if f := asFault(err); f == nil || f.Code != errs.PolicyInvalidInput || f.Details["field"] != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// A caller that knows no facts asks about a first review.
func TestFactsOfAFirstReview(t *testing.T) {
	p := load(t, barring(t, `bar := "risk" if {
	input.hard_cap == 6
	input.rounds_left == 4
	input.first_time_count == 2
	input.blocking_count == 2
	not input.may_extend
}`))
	in := reviewed()
	in.Facts = nil
	if bar, err := p.Bar(t.Context(), in); bar != routing.BarRisk || in.Facts != nil {
		t.Errorf("got %q, %v", bar, err)
	}
}

func TestBarDefers(t *testing.T) {
	for bar, want := range map[routing.Bar]string{"": "", routing.BarAll: "", routing.BarRisk: "nit", routing.BarFail: "risk nit"} {
		var below []string
		for _, s := range []finding.Severity{finding.Fail, finding.Risk, finding.Nit, "unknown", ""} {
			if bar.Defers(s) {
				below = append(below, string(s))
			}
		}
		if got := strings.Join(below, " "); got != want {
			t.Errorf("bar %q defers %q, want %q", bar, got, want)
		}
	}
}
