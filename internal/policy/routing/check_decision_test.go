package routing_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/policies"
)

// Load rejects a decision that is wrong without evaluating it.
func TestLoadRefusesWhatIsWrittenOutAndNoDecision(t *testing.T) {
	const good = `{"next_action": "stuck", "reason": "a"}`
	for _, tc := range []struct{ decision, want string }{
		{`decision := "commit"`, ":14:13: decision must be"},
		{`decision := null`, "of type null"},
		{`decision := 7`, "of type number"},
		{`decision := ["commit", "a"]`, "of type array"},
		{`decision := {"next_action", "reason"}`, "of type set"},
		{`decision := {a | some a in ["next_action", "reason"]}`, "of type setcomprehension"},
		{`decision := [a | some a in ["next_action", "reason"]]`, "of type arraycomprehension"},
		{`decision if input.round == 1`, "of type boolean"},
		{`default decision := false`, "of type boolean"},
		{`decision := {}`, "next_action is missing"},
		{`decision := {"next_action": "stuck"}`, "reason is missing"},
		{`decision := {"next_action": "stuck", "reason": "a", "force": true}`, `"force" is neither`},
		{`decision := {"next_action": "stuck", "because": "a"}`, `"because" is neither`},
		{`decision := {_name: "stuck", "reason": "a"}` + "\n\n_name := \"next_action\"", "its names must be written out"},
		{`decision := {"next_action": ["stuck"], "reason": "a"}`, `:14:29: "next_action" of a decision must be a string`},
		{`decision := {"next_action": "", "reason": "a"}`, "must not be empty"},
		{`decision := {"next_action": "stuck", "reason": 1}`, `:14:48: "reason" of a decision must be a string`},
		{`decision := {"next_action": "stuck", "reason": ""}`, `reason ""`},
		{`decision := {"next_action": "stuck", "reason": "Not a name"}`, `reason "Not a name"`},
		{`decision := ` + good + ` if input.round > 1 else := "commit"`, "of type string"},
		{`decision := ` + good + ` if input.round > 1 else := {"next_action": "commit"}`, "reason is missing"},
		{`decision contains "commit"`, "not a set"},
		{`decision.next_action := "stuck"` + "\n\n" + `decision.reason := "a"`, "not be put together from rules"},
		{`decision[name] := "a" if some name in ["next_action", "reason"]`, "not be put together from rules"},
	} {
		t.Run(tc.decision, func(t *testing.T) {
			_, err := policies.Load(t.Context(), policyDir(t, goodMetadata+goodTables+tc.decision+"\n"))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}

// Decide checks values that must be evaluated.
func TestLoadLeavesWhatIsComputed(t *testing.T) {
	for _, decision := range []string{
		computed(`{"next_action": "stuck", "reason": "a"}`),
		`decision := {"next_action": precedence[0], "reason": sprintf("r%d", [1])}`,
		`decision := {"next_action": $"fix{"er"}", "reason": "r1"}`,
		`decision := object.union({"next_action": "fixer"}, {"reason": "r1"})`,
		`decision := {name: "fixer" | some name in ["next_action", "reason"]}`,
	} {
		if _, err := deciding(t, decision).Decide(t.Context(), clean()); err != nil {
			t.Errorf("%s: %v", decision, err)
		}
	}
}
