package explain_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Rounds under routing@1.2.0, with their complete explanations.
func TestExplanations(t *testing.T) {
	p := load(t)
	for name, tc := range map[string]struct {
		in        routing.Input
		rule      string // suffix of its line
		outranked []string
		weaker    []explain.Waiting
		cost      int
		flips     []string
		ways      []string
	}{
		"the strongest destination": {
			in:     input(1, 3, routing.Green, map[string]int{"executor": 2, "researcher": 1}),
			rule:   `else := {"next_action": _strongest, "reason": "routed"} if {`,
			weaker: []explain.Waiting{{Destination: "executor", Findings: 2}},
			cost:   1,
			flips: []string{
				"without the finding for researcher: executor (routed)",
				"with a finding for stuck: stuck (stuck-finding)",
				"with a finding for askuser: askuser (routed)",
				"with a finding for plan-checker: plan-checker (routed)",
			},
			ways: []string{
				"without the finding for researcher: executor (routed)",
				"without any of the 3 findings: commit (no-findings)",
			},
		},
		"a clean round": {
			in:   input(3, 3, routing.Absent, nil),
			rule: `else := {"next_action": "commit", "reason": "no-findings"} if {`,
			cost: 1,
			flips: []string{ // in the last round any remaining finding leads to stuck
				"with a finding for stuck: stuck (stuck-finding)",
				"with a finding for askuser: stuck (max-rounds)",
				"with a finding for plan-checker: stuck (max-rounds)",
				"with a finding for researcher: stuck (max-rounds)",
				"with a finding for executor: stuck (max-rounds)",
				"with a red verification: stuck (max-rounds)",
			},
		},
		"a red verification at the cap": {
			in:        input(3, 3, routing.Red, nil),
			rule:      `else := {"next_action": "stuck", "reason": "max-rounds"} if {`,
			outranked: []string{"executor (verify-red)"},
			cost:      1,
			flips: []string{
				"with a green verification: commit (no-findings)",
				"with a cap of 4 rounds: executor (verify-red)",
				"without a verification: commit (no-findings)",
			},
			ways: []string{
				"with a green verification: commit (no-findings)",
				"with a cap of 4 rounds: executor (verify-red)",
			},
		},
		"the cap and two things to do": {
			in:        input(4, 3, routing.Red, map[string]int{"askuser": 2}),
			rule:      `else := {"next_action": "stuck", "reason": "max-rounds"} if {`,
			outranked: []string{"askuser (routed)", "executor (verify-red)"},
			weaker:    []explain.Waiting{{Destination: "askuser", Findings: 2}},
			cost:      2,
			flips:     []string{"with a cap of 5 rounds: askuser (routed)"},
			ways: []string{
				"with a cap of 5 rounds: askuser (routed)",
				"without the 2 findings for askuser and with a green verification: commit (no-findings)",
				"without the 2 findings for askuser and with a cap of 5 rounds: executor (verify-red)",
			},
		},
		"reviews without progress": {
			in:        stalled(input(3, 5, routing.Green, map[string]int{"executor": 2, "researcher": 1}), 2),
			rule:      `else := {"next_action": "stuck", "reason": "no-progress"} if {`,
			outranked: []string{"researcher (routed)"},
			weaker:    []explain.Waiting{{Destination: "researcher", Findings: 1}, {Destination: "executor", Findings: 2}},
			cost:      1,
			flips: []string{
				"without the finding for researcher: executor (routed)",
				"without 1 of the 2 findings for executor: researcher (routed)",
				"with a finding for askuser: askuser (routed)",
				"with a finding for plan-checker: plan-checker (routed)",
				"with a new finding in place of a repeated one: researcher (routed)",
				"after 1 review without progress: researcher (routed)",
			},
			ways: []string{
				"without the finding for researcher: executor (routed)",
				"without 1 of the 2 findings for executor: researcher (routed)",
				"without any of the 3 findings: commit (no-findings)",
			},
		},
		"one review more would be one too many": {
			in:   stalled(input(2, 5, routing.Green, map[string]int{"executor": 1}), 1),
			rule: `else := {"next_action": _strongest, "reason": "routed"} if {`,
			cost: 1,
			flips: []string{
				"without the finding for executor: commit (no-findings)",
				"with a finding for stuck: stuck (stuck-finding)",
				"with a finding for askuser: askuser (routed)",
				"with a finding for plan-checker: plan-checker (routed)",
				"with a finding for researcher: researcher (routed)",
				"after 2 reviews without progress: stuck (no-progress)",
			},
			ways: []string{"without the finding for executor: commit (no-findings)"},
		},
		"so many that nothing small would do": {
			in:        input(1, 3, routing.Green, map[string]int{"stuck": 10_000, "executor": 20_000}),
			rule:      `decision := {"next_action": "stuck", "reason": "stuck-finding"} if {`,
			outranked: []string{"stuck (routed)"},
			weaker:    []explain.Waiting{{Destination: "executor", Findings: 20_000}},
			cost:      10_000,
			flips:     []string{"without the 10000 findings for stuck: executor (routed)"},
			ways: []string{
				"without the 10000 findings for stuck: executor (routed)",
				"without any of the 30000 findings: commit (no-findings)",
			},
		},
		"a cap that cannot be higher": {
			in:        input(routing.MaxRoundsLimit, routing.MaxRoundsLimit, routing.Green, map[string]int{"executor": 3}),
			rule:      `else := {"next_action": "stuck", "reason": "max-rounds"} if {`,
			outranked: []string{"executor (routed)"},
			weaker:    []explain.Waiting{{Destination: "executor", Findings: 3}},
			cost:      3,
			flips:     []string{"without the 3 findings for executor: commit (no-findings)"},
			ways:      []string{"without the 3 findings for executor: commit (no-findings)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := explanationOf(t, p, tc.in)
			if e.Rule == nil || !strings.HasSuffix(e.Rule.Location.Text, tc.rule) || e.Rule.Location.Row == 0 {
				t.Errorf("the rule is %+v, want %s", e.Rule, tc.rule)
			}
			var outranked []string
			for _, o := range e.Outranked {
				outranked = append(outranked, o.Decision.NextAction+" ("+o.Decision.Reason+")")
			}
			if !slices.Equal(outranked, tc.outranked) {
				t.Errorf("it outranked %v, want %v", outranked, tc.outranked)
			}
			if !slices.Equal(e.Waiting, tc.weaker) {
				t.Errorf("weaker are %v, want %v", e.Waiting, tc.weaker)
			}
			for _, f := range e.Counterfactuals {
				if f.Cost != tc.cost {
					t.Errorf("%s costs %d, want %d", f.Words(), f.Cost, tc.cost)
				}
			}
			if got, want := reported(e.Counterfactuals), strings.Join(tc.flips, "\n"); got != want {
				t.Errorf("flips are\n%s\nwant\n%s", got, want)
			}
			if got, want := reported(e.ReachableBy), strings.Join(tc.ways, "\n"); got != want {
				t.Errorf("ways are\n%s\nwant\n%s", got, want)
			}
			if e.GaveUp || e.Tried == 0 {
				t.Errorf("tried %d, gave up: %v", e.Tried, e.GaveUp)
			}
		})
	}
}

// A change does not describe its effect on the comparison with earlier reviews, so the
// whole input is returned: removed repeats are resolved, other removed findings never
// existed.
func TestFlipsHaveTheWholeInput(t *testing.T) {
	in := input(1, 3, routing.Green, map[string]int{"executor": 3, "researcher": 1})
	in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount = 2, 1, 1, 5
	e := explanationOf(t, load(t), in)
	want := routing.Input{Round: 1, MaxRounds: 3, Routes: map[string]int{}, Verify: routing.Green, ResolvedCount: 6}
	last := e.ReachableBy[len(e.ReachableBy)-1]
	if last.Decision.NextAction != "commit" || !reflect.DeepEqual(last.Input, want) {
		t.Errorf("the way to commit is %+v, want %+v", last.Input, want)
	}
	want = routing.Input{
		Round: 1, MaxRounds: 3, FindingCount: 3, Routes: map[string]int{"executor": 3}, Verify: routing.Green,
		NewCount: 2, ReopenedCount: 1, ResolvedCount: 6,
	}
	if first := e.Counterfactuals[0]; first.Decision.NextAction != "executor" || !reflect.DeepEqual(first.Input, want) {
		t.Errorf("the first flip is %+v, want %+v", first.Input, want)
	}
	change := explain.Change{Kind: explain.Findings, Destination: "researcher", Count: &explain.Count{From: 1}, Words: "without the finding for researcher"}
	if got := e.Counterfactuals[0].Changes; len(got) != 1 || !reflect.DeepEqual(got[0], change) {
		t.Errorf("its changes are %+v, want %+v", got, change)
	}
}

// The largest counts that an input can have neither overflow nor panic.
func TestTheLargestCountsCanBeExplained(t *testing.T) {
	p := load(t)
	in := stalled(input(math.MaxInt, 1, routing.Red, map[string]int{"executor": math.MaxInt - 1, "researcher": 1}), math.MaxInt)
	e := explanationOf(t, p, in)
	// The cap cannot be raised so far; removing all findings is the smallest change.
	if got, want := reported(e.Counterfactuals), "without any of the 9223372036854775807 findings and with a green verification: commit (no-findings)\n"+
		"without any of the 9223372036854775807 findings and without a verification: commit (no-findings)"; got != want {
		t.Errorf("flips are\n%s\nwant\n%s", got, want)
	}
	for _, f := range slices.Concat(e.Counterfactuals, e.ReachableBy) {
		if _, err := p.Decide(t.Context(), f.Input); err != nil {
			t.Errorf("%s: %v", f.Words(), err)
		}
	}
}

// If no change leads elsewhere, the explanation is empty and the search complete.
func TestAPolicyThatKnowsOneAnswer(t *testing.T) {
	e := explanationOf(t, deciding(t, `decision := {"next_action": "stuck", "reason": "closed"} if input.round > 0`), input(1, 3, routing.Green, map[string]int{"fixer": 1}))
	if len(e.Counterfactuals) != 0 || len(e.ReachableBy) != 0 || e.Tried == 0 || e.GaveUp {
		t.Errorf("flips %v, ways %v, tried %d, gave up: %v", e.Counterfactuals, e.ReachableBy, e.Tried, e.GaveUp)
	}
}

// The search is bounded, and reports when it reached its limit.
func TestTheSearchGivesUp(t *testing.T) {
	e := explainMany(t, `decision := {"next_action": "stuck", "reason": "closed"} if input.finding_count > 3`)
	// A busy machine may reach SearchTime first.
	if len(e.Counterfactuals) != 0 || e.Tried > explain.MaxTried || !e.GaveUp {
		t.Errorf("%d flips, tried %d, gave up: %v", len(e.Counterfactuals), e.Tried, e.GaveUp)
	}
}

// explainMany explains a policy that has more inputs to try than the search limit.
func explainMany(t *testing.T, decision string) explain.Explanation {
	t.Helper()
	many := strings.NewReplacer(
		`"user": {`, `"a": {"kind": "agent", "advances_round": true}, "b": {"kind": "agent", "advances_round": true}, "user": {`,
		`["stuck", `, `["stuck", "a", "b", `,
	).Replace(header)
	p, err := routing.Loader{}.FromSources(t.Context(), "many", []routing.Source{{Name: "routing.rego", Text: many + decision}})
	if err != nil {
		t.Fatal(err)
	}
	return explanationOf(t, p, input(1, 3, routing.Green, map[string]int{"stuck": 20, "a": 20, "b": 20, "user": 20, "fixer": 20}))
}

// An input on which the policy times out ends the search, but not the explanation.
func TestASlowRuleEndsTheSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("short: a decision takes a second to run over its time")
	}
	p := deciding(t, `decision := {"next_action": "user", "reason": "routed"} if {
	input.routes.user > 0
	count([1 | some a in numbers.range(1, 9999); some b in numbers.range(1, 9999); some c in numbers.range(1, 9999); a + b + c == 0]) == 0
} else := {"next_action": "fixer", "reason": "routed"} if {
	input.routes.fixer > 0
}`)
	in := input(1, 3, routing.Green, map[string]int{"fixer": 1})
	e := explanationOf(t, p, in)
	if e.Decision.NextAction != "fixer" || !e.GaveUp {
		t.Errorf("%+v, gave up: %v", e.Decision, e.GaveUp)
	}
	// The caller's deadline ends both.
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	_, err := explain.Explain(ctx, p, in)
	wantCode(t, err, errs.PolicyTimeout)
}

func TestExplainErrors(t *testing.T) {
	in := input(1, 3, routing.Green, nil)
	contradiction := in
	contradiction.FindingCount = 1
	_, err := explain.Explain(t.Context(), load(t), contradiction)
	wantCode(t, err, errs.PolicyInvalidInput)

	_, err = explain.Explain(t.Context(), deciding(t, `decision := {"next_action": "stuck", "reason": "closed"} if input.round > 1`), in)
	wantCode(t, err, errs.PolicyUndefined)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = explain.Explain(ctx, load(t), in)
	wantCode(t, err, errs.PolicyFailed)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not say that it was cancelled", err)
	}
}

func wantCode(t *testing.T, err error, want errs.Code) {
	t.Helper()
	if got := errs.CodeOf(err); got != want {
		t.Errorf("got %v, code %q, want %q", err, got, want)
	}
}
