package diff_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
)

// Changes of the small policy, with the steps that ADR-0016 requires.
func TestSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for name, tc := range map[string]struct {
		change  []string
		step    diff.Step
		because string
		summary string
	}{
		"a new category": {
			[]string{`"typo": "fixer",`, `"typo": "fixer", "style": "fixer",`},
			diff.Minor, "category style is new", "1 category added",
		},
		"a category that is gone": {
			[]string{"\t\"typo\": \"fixer\",\n", ""},
			diff.Major, "category typo is gone", "1 category removed",
		},
		"a category that goes elsewhere": {
			[]string{`"typo": "fixer"`, `"typo": "user"`},
			diff.Major, "category typo goes to user and not to fixer", "1 category re-routed",
		},
		"a new destination": {
			[]string{
				`"user": {`, `"planner": {"kind": "agent", "advances_round": false}, "user": {`,
				`"typo": "fixer",`, `"typo": "fixer", "plan": "planner",`,
				`["stuck", "user", "fixer"]`, `["stuck", "user", "planner", "fixer"]`,
				`} else := {"next_action": "fixer", "reason": "routed"}`,
				`} else := {"next_action": "planner", "reason": "routed"} if { input.routes.planner > 0 } else := {"next_action": "fixer", "reason": "routed"}`,
			},
			diff.Minor, "category plan is new; destination planner is new; the precedence now ranks planner",
			"1 category added, 1 destination added, 1 row added to the precedence",
		},
		"a destination that is declared and takes no findings": {
			[]string{`"user": {`, `"planner": {"kind": "agent", "advances_round": false}, "user": {`},
			diff.Minor, "destination planner is new", "1 destination added",
		},
		"a destination of another kind": {
			[]string{`"fixer": {"kind": "agent"`, `"fixer": {"kind": "human"`},
			diff.Major, "destination fixer is human, begins a round and not agent, begins a round", "1 destination changed",
		},
		"a destination that keeps the round": {
			[]string{`"user": {"kind": "human", "advances_round": true}`, `"user": {"kind": "human", "advances_round": false}`},
			diff.Major, "destination user is human, keeps the round and not human, begins a round", "1 destination changed",
		},
		"a row of the precedence that is gone": {
			[]string{
				"\t\"question\": \"user\",\n", "", `["stuck", "user", "fixer"]`, `["stuck", "fixer"]`,
				"} else := {\"next_action\": \"user\", \"reason\": \"routed\"} if {\n\tinput.routes.user > 0\n", "",
			},
			diff.Major, "category question is gone; the precedence no longer ranks user",
			"1 category removed, 1 row removed from the precedence",
		},
		"another precedence": {
			[]string{`["stuck", "user", "fixer"]`, `["stuck", "fixer", "user"]`},
			diff.Major, "the precedence has another order", "precedence reordered",
		},
		"an agent gets what the user had": {
			[]string{`{"next_action": "user", "reason": "routed"}`, `{"next_action": "fixer", "reason": "routed"}`},
			diff.Major, "a task that went to user (routed) goes to fixer (routed)", "",
		},
		"the user gets what an agent had": {
			[]string{`{"next_action": "fixer", "reason": "routed"}`, `{"next_action": "user", "reason": "routed"}`},
			diff.Minor, "a task that went to fixer (routed) goes to user (routed)", "",
		},
		"stuck where the user was asked": {
			[]string{`{"next_action": "user", "reason": "routed"}`, `{"next_action": "stuck", "reason": "asking"}`},
			diff.Minor, "a task that went to user (routed) goes to stuck (asking)", "",
		},
		// Red and without findings, classes differ only in whether something was
		// resolved.
		"stuck where an agent was to repair the build": {
			[]string{`{"next_action": "fixer", "reason": "verify-red"}`, `{"next_action": "stuck", "reason": "verify-red"}`},
			diff.Minor, "a task that went to fixer (verify-red) goes to stuck (verify-red)", "2 decisions from fixer to stuck",
		},
		"the user where a task was done": {
			[]string{`{"next_action": "commit", "reason": "no-findings"}`, `{"next_action": "user", "reason": "confirm"}`},
			diff.Major, "a task that went to commit (no-findings) goes to user (confirm)", "12 decisions from commit to user",
		},
		"the last round goes on": {
			[]string{"input.round >= input.max_rounds", "input.round > input.max_rounds"},
			diff.Major, "a task that went to stuck (max-rounds) goes to fixer (routed); " +
				"a task that went to stuck (max-rounds) goes to fixer (verify-red); " +
				"a task that went to stuck (max-rounds) goes to user (routed)", "",
		},
		"no decision where there was one": {
			[]string{`} else := {"next_action": "fixer", "reason": "verify-red"} if {`, `} else := {"next_action": "nowhere", "reason": "verify-red"} if {`},
			diff.Major, "a task that went to fixer (verify-red) goes to undecided (policy-undeclared-destination)",
			"2 decisions from fixer to undecided",
		},
		"another reason": {
			[]string{`"reason": "verify-red"`, `"reason": "build-broken"`},
			diff.Minor, "the reason for fixer is build-broken and not verify-red", "2 decisions with another reason",
		},
		"the largest step counts": {
			[]string{`"typo": "fixer",`, `"typo": "user", "style": "fixer",`, `"reason": "verify-red"`, `"reason": "build-broken"`},
			diff.Major, "category typo goes to user and not to fixer",
			"1 category added, 1 category re-routed, 2 decisions with another reason",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := compare(t, small(t), small(t, tc.change...))
			wantStep(t, d, tc.step, tc.because)
			if got := d.Summary(); tc.summary != "" && got != tc.summary {
				t.Errorf("summary is %q, want %q", got, tc.summary)
			}
			if d.Empty() {
				t.Error("the difference is empty")
			}
		})
	}
}

// If the old policy failed on an input, only stuck is stricter.
func TestStepsFromAPolicyThatFails(t *testing.T) {
	red := `} else := {"next_action": "fixer", "reason": "verify-red"} if {`
	broken := small(t, red, `} else := {"next_action": "nowhere", "reason": "verify-red"} if {`)
	wantStep(t, compare(t, broken, small(t)), diff.Major,
		"a task that went to undecided (policy-undeclared-destination) goes to fixer (verify-red)")
	wantStep(t, compare(t, broken, small(t, red, `} else := {"next_action": "stuck", "reason": "verify-red"} if {`)), diff.Minor,
		"a task that went to undecided (policy-undeclared-destination) goes to stuck (verify-red)")
}
