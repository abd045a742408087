package check_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// input returns a round below its cap with one new finding for each named destination.
func input(destinations ...string) routing.Input {
	n := len(destinations)
	in := routing.Input{Round: 1, MaxRounds: 2, FindingCount: n, Routes: make(map[string]int), Verify: routing.Green, NewCount: n}
	for _, name := range destinations {
		in.Routes[name] = 1
	}
	return in
}

// with returns a changed copy of an input.
func with(in routing.Input, change func(*routing.Input)) *routing.Input {
	change(&in)
	return &in
}

// The base policy of the mutations has no violations.
func TestTheSmallPolicyPasses(t *testing.T) {
	p := mutated(t)
	r := verify(t, p, check.Options{Raised: raisedFor(p)})
	if got := broken(r); !r.Passes() || len(got) > 0 {
		t.Errorf("%v are broken", got)
	}
	// Three destinations; otherwise as in the tests of package inputspace.
	if want := (7*(14-1+3) + 2) * 3 * 3; r.States != want {
		t.Errorf("%d states, want %d", r.States, want)
	}
}

// Each mutation of routing 1.2.0 violates exactly one invariant, and the simplest
// counterexample is found.
func TestMutationsBreakOneInvariantEach(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: many cases, one after another")
	}
	const (
		routed   = `} else := {"next_action": _strongest, "reason": "routed"} if {`
		forRed   = `{"next_action": "executor", "reason": "verify-red"}`
		reaction = `decision := {"next_action": "stuck", "reason": "stuck-finding"} if {`
	)
	for name, tc := range map[string]struct {
		whole    bool // mutates all of routing 1.2.0, not the small policy
		mutation []string
		breaks   check.Invariant
		input    *routing.Input    // of the simplest counterexample
		decision *routing.Decision // nil if the policy fails
		code     errs.Code
		line     string // the prefix of the blamed line, "" for none
		message  string // a part of the message
	}{
		"nothing is said of an absent verification": {
			mutation: []string{`input.verify in {"green", "absent"}`, `input.verify == "green"`},
			breaks:   check.Total,
			// At the cap, round and cap add up to 2; below or above it, to 3.
			input:   with(input(), func(in *routing.Input) { in.MaxRounds, in.Verify = 1, routing.Absent }),
			code:    errs.PolicyUndefined,
			message: "makes no decision",
		},
		"two rules disagree": {
			mutation: []string{reaction, `decision := {"next_action": "executor", "reason": "routed"} if {` +
				"\n\tinput.routes.executor > 0\n\tinput.verify == \"absent\"\n}\n\n" + reaction},
			breaks: check.Total,
			// At the cap the other rule says stuck.
			input:   with(input("executor"), func(in *routing.Input) { in.MaxRounds, in.Verify = 1, routing.Absent }),
			code:    errs.PolicyFailed,
			line:    `decision := {"next_action": "executor", "reason": "routed"} if {`,
			message: "conflicting values",
		},
		"an absent verification is taken for red": {
			mutation: []string{forRed + " if {\n\tinput.verify == \"red\"", forRed + " if {\n\tinput.verify in {\"red\", \"absent\"}"},
			breaks:   check.CleanCommits,
			input:    with(input(), func(in *routing.Input) { in.MaxRounds, in.Verify = 1, routing.Absent }),
			decision: &routing.Decision{NextAction: "executor", Reason: "verify-red"},
			line:     "} else := " + forRed,
			message:  `nothing is left to do, but the decision is "executor"`,
		},
		"a stalled task is let through": {
			mutation: []string{`{"next_action": "stuck", "reason": "no-progress"}`, `{"next_action": "commit", "reason": "no-progress"}`},
			breaks:   check.OnlyCleanCommits,
			// The weakest destination comes first.
			input: with(input("executor"), func(in *routing.Input) {
				in.NewCount, in.RepeatCount, in.NoProgress, in.StalledRounds = 0, 1, true, 2
			}),
			code:    errs.PolicyUnsafeCommit,
			line:    `} else := {"next_action": "commit", "reason": "no-progress"} if {`,
			message: "would commit with 1 open finding",
		},
		"seventeen findings are let through": {
			mutation: []string{routed, `} else := {"next_action": "commit", "reason": "no-findings"} if {` + "\n\tinput.finding_count == 17\n" + routed},
			breaks:   check.OnlyCleanCommits,
			input: with(input(), func(in *routing.Input) {
				in.FindingCount, in.NewCount, in.Routes = 17, 17, map[string]int{"executor": 17}
			}),
			code:    errs.PolicyUnsafeCommit,
			line:    `} else := {"next_action": "commit", "reason": "no-findings"} if {`,
			message: "would commit with 17 open findings",
		},
		"a red verification goes nowhere": {
			mutation: []string{forRed, `{"next_action": concat("", ["no", "body"]), "reason": "verify-red"}`},
			breaks:   check.Declared,
			// At the cap it is stuck.
			input:   with(input(), func(in *routing.Input) { in.Verify = routing.Red }),
			code:    errs.PolicyUndeclaredDestination,
			line:    `} else := {"next_action": concat`,
			message: `"nobody"`,
		},
		"the user is asked first": {
			mutation: []string{reaction, `decision := {"next_action": "askuser", "reason": "ask-first"} if {` +
				"\n\tinput.routes.askuser > 0\n\tinput.round < input.max_rounds\n" +
				strings.Replace(reaction, "decision :=", "} else :=", 1)},
			breaks:   check.StuckStrongest,
			input:    with(input("stuck", "askuser"), func(*routing.Input) {}),
			decision: &routing.Decision{NextAction: "askuser", Reason: "ask-first"},
			line:     `decision := {"next_action": "askuser", "reason": "ask-first"} if {`,
			message:  `1 finding for stuck, but the decision is "askuser"`,
		},
		"stuck is not the first of the precedence": {
			mutation: []string{`["stuck", "askuser", "executor"]`, `["askuser", "stuck", "executor"]`},
			breaks:   check.StuckStrongest,
			message:  `the precedence has "askuser" before "stuck"`,
		},
		"the cap is one round late": {
			mutation: []string{`input.round >= input.max_rounds`, `input.round > input.max_rounds`},
			breaks:   check.Ends,
			input:    with(input(), func(in *routing.Input) { in.MaxRounds, in.Verify = 1, routing.Red }),
			decision: &routing.Decision{NextAction: "executor", Reason: "verify-red"},
			line:     "} else := " + forRed,
			message:  `round 1 of 1 with a red verification goes on, to "executor"`,
		},
		"the executor outranks the user": {
			mutation: []string{`["stuck", "askuser", "executor"]`, `["stuck", "executor", "askuser"]`},
			breaks:   check.HumanFirst,
			// A red verification is work for the executor, and simpler than a second
			// finding.
			input:    with(input("askuser"), func(in *routing.Input) { in.Verify = routing.Red }),
			decision: &routing.Decision{NextAction: "executor", Reason: "routed"},
			line:     routed,
			message:  `1 finding for askuser, a person, but the decision is the agent "executor"`,
		},
		"another order than the precedence": {
			whole:    true, // it needs two agents
			mutation: []string{`some destination in precedence;`, `some destination in ["stuck", "askuser", "researcher", "plan-checker", "executor"];`},
			breaks:   check.PrecedenceRespected,
			input:    with(input("plan-checker", "researcher"), func(*routing.Input) {}),
			decision: &routing.Decision{NextAction: "researcher", Reason: "routed"},
			line:     routed,
			message:  `the strongest destination with findings is "plan-checker", but the decision is "researcher"`,
		},
		"no category is for the user": {
			mutation: []string{`"question-to-user": "askuser"`, `"question-to-user": "executor"`},
			breaks:   check.NoDeadRow,
			message:  `no category goes to "askuser", and nothing is decided for it`,
		},
		"a destination that nothing leads to": {
			mutation: []string{"\t\"stuck\": {\"kind\"", "\t\"archive\": {\"kind\": \"terminal\", \"advances_round\": false},\n\t\"stuck\": {\"kind\""},
			breaks:   check.NoDeadRow,
			message:  `nothing is decided for "archive"`,
		},
		"a rule comes too late": {
			mutation: []string{"} else := " + forRed, `} else := {"next_action": "stuck", "reason": "lost"} if {` + "\n\tinput.stalled_rounds > 2\n} else := " + forRed},
			breaks:   check.NoShadowedRule,
			line:     `} else := {"next_action": "stuck", "reason": "lost"} if {`,
			message:  "this branch never decides",
		},
		"a category that nothing raises": {
			mutation: []string{"\t\"style\": \"executor\",\n", "\t\"style\": \"executor\",\n\t\"taste\": \"executor\",\n"},
			breaks:   check.CategoryRaised,
			line:     `"taste": "executor",`,
			message:  `nothing raises "taste"`,
		},
		"a category that is not in the table": {
			mutation: []string{"\t\"style\": \"executor\",\n", ""},
			breaks:   check.CategoryKnown,
			message:  `"style", raised by np-critic, has no route`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := small(t)
			if tc.whole {
				source = rego(t, "1.2.0")
			}
			r := verify(t, policy(t, replaced(t, source, tc.mutation...)), check.Options{Raised: raisedFor(load(t, "routing@1.2.0"))})
			if got := broken(r); !slices.Equal(got, []check.Invariant{tc.breaks}) {
				t.Fatalf("%v are broken, want only %s", got, tc.breaks)
			}
			if r.Passes() {
				t.Error("it counts as proven")
			}
			result := resultOf(t, r, tc.breaks)
			v := result.Violations[0]
			if !strings.Contains(v.Message, tc.message) {
				t.Errorf("the message is %q, want one with %q", v.Message, tc.message)
			}
			if !reflect.DeepEqual(v.Input, tc.input) {
				t.Errorf("the counterexample is %+v, want %+v", v.Input, tc.input)
			}
			if !reflect.DeepEqual(v.Decision, tc.decision) || v.Code != tc.code {
				t.Errorf("the policy answers %+v, %q; want %+v, %q", v.Decision, v.Code, tc.decision, tc.code)
			}
			line := ""
			if v.Location != nil {
				line = v.Location.Text
			}
			if !strings.HasPrefix(line, tc.line) || (tc.line == "") != (line == "") {
				t.Errorf("the line to blame is %q, want one that begins with %q", line, tc.line)
			}
			if result.Violated < len(result.Violations) || len(result.Violations) > check.MaxViolations {
				t.Errorf("%d violations, of which %d are kept", result.Violated, len(result.Violations))
			}
			simplestFirst(t, result.Violations)
		})
	}
}

// simplestFirst requires counterexamples in order.
func simplestFirst(t *testing.T, violations []check.Violation) {
	t.Helper()
	size := 0
	for _, v := range violations {
		if v.Input == nil {
			continue
		}
		if inputspace.Size(*v.Input) < size {
			t.Errorf("%+v comes late", v.Input)
		}
		size = inputspace.Size(*v.Input)
	}
}

// A rule that depends on more than its thresholds invalidates the classes: the report
// shows its location, and two inputs of a class that are decided differently.
func TestARuleThatNoClassFollows(t *testing.T) {
	r := verify(t, mutated(t, `input.stalled_rounds >= 2`, `input.finding_count % 7 == 3`), check.Options{})
	if got, want := broken(r), []check.Invariant{check.Classes}; !slices.Equal(got, want) {
		t.Fatalf("%v are broken, want %v", got, want)
	}
	result := resultOf(t, r, check.Classes)
	if len(r.Gaps) != 1 || !strings.HasPrefix(r.Gaps[0].Text, "input.finding_count % 7") {
		t.Errorf("the gaps are %+v", r.Gaps)
	}
	first, second := result.Violations[0], result.Violations[1]
	if first.Input != nil || first.Location == nil || *first.Location != r.Gaps[0] {
		t.Errorf("the first violation is %+v, want the gap", first)
	}
	if second.Input == nil || second.Other == nil {
		t.Fatalf("the second violation is %+v, want two inputs", second)
	}
	if reflect.DeepEqual(second.Decision, second.Other.Decision) {
		t.Errorf("both inputs are decided as %+v", second.Decision)
	}
	// One of them has 3 findings, or 10, or 17. The least possible is 3, and then the
	// other has at most one finding more or less.
	if a, b := second.Input.FindingCount, second.Other.Input.FindingCount; (a%7 == 3) == (b%7 == 3) || max(a, b) > 4 {
		t.Errorf("%d findings are told apart from %d", a, b)
	}
	if want := "no-progress"; second.Location == nil || !strings.Contains(second.Location.Text, want) {
		t.Errorf("the line to blame is %+v, want the branch with %s", second.Location, want)
	}
}
