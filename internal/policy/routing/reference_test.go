package routing_test

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/policies"
)

// A dangling reference is always undefined, and its rule would never match without any
// error.
func TestLoadRefusesReferencesThatLeadNowhere(t *testing.T) {
	for _, tc := range []struct{ condition, want string }{
		{`input.roud > 1`, `:15:2: input has no field "roud": there are finding_count, max_rounds, new_count,`},
		{`input["Round"] > 1`, `input has no field "Round"`},
		{`input[0] > 1`, `input has no field 0`},
		{`not input.stuck`, `input has no field "stuck"`},
		{`input.round.value > 1`, "input.round has no fields"},
		{`input.verify[0] == "g"`, "input.verify has no fields"},
		{`input.routes.fixr > 0`, `input.routes never counts for "fixr": findings go to stuck, fixer`},
		{`input.routes.commit > 0`, `input.routes never counts for "commit"`},
		{`input.routes.fixer.count > 0`, "a count in input.routes has no fields"},
		{`some name; input.routes[name].count > 0`, "a count in input.routes has no fields"},
		{`data.limits.rounds > 1`, "nothing in the policy defines data.limits.rounds"},
		{`data.switchyard.routing.limit > 1`, "nothing in the policy defines data.switchyard.routing.limit"},
		{`data.switchyard.other > 1`, "nothing in the policy defines data.switchyard.other"},
		{`count({n | n := input.roud}) > 1`, `input has no field "roud"`},
		{`every n in input.rutes { n > 1 }`, `input has no field "rutes"`},
	} {
		t.Run(tc.condition, func(t *testing.T) {
			decision := "decision := {\"next_action\": \"stuck\", \"reason\": \"a\"} if {\n\t" + tc.condition + "\n}\n"
			_, err := policies.Load(t.Context(), policyDir(t, goodMetadata+goodTables+decision))
			wantCode(t, err, errs.PolicyInvalid)
			if got := problemsOf(t, err); !strings.Contains(got, tc.want) {
				t.Errorf("problems do not mention %q:\n%s", tc.want, got)
			}
		})
	}
}

func TestAMisspeltFieldIsSeenThroughAnImport(t *testing.T) {
	source := strings.Replace(goodMetadata, "routing\n", "routing\n\nimport input.roud as round\n", 1) + goodTables +
		"decision := {\"next_action\": \"stuck\", \"reason\": \"a\"} if round > 1\n"
	_, err := policies.Load(t.Context(), policyDir(t, source))
	wantCode(t, err, errs.PolicyInvalid)
	if got := problemsOf(t, err); !strings.Contains(got, `input has no field "roud"`) {
		t.Error(got)
	}
}

// All of the input can be read, in every notation.
func TestLoadAcceptsReferencesToWhatIsThere(t *testing.T) {
	fields := []string{
		"finding_count", "max_rounds", "new_count", "no_progress", "reopened_count", "repeat_count", "resolved_count",
		"round", "routes", "stalled_rounds", "verify",
	}
	conditions := []string{
		"input.routes.stuck > 0", "some name; input.routes[name] > 0", "some field; input[field] == 3", "input == {}",
		"data.switchyard.routing.route_table.style == \"fixer\"", "some name; data.switchyard.routing.destinations[name].kind == \"agent\"",
	}
	for _, field := range fields {
		conditions = append(conditions, "input."+field+" == 3", "input[\""+field+"\"] == 3")
	}
	for _, condition := range conditions {
		deciding(t, "decision := {\"next_action\": \"stuck\", \"reason\": \"a\"} if {\n\t"+condition+"\n}")
	}
}
