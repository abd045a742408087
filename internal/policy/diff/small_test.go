package diff_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// smallSource is a policy with few destinations, so that a domain has few classes.
const smallSource = `# METADATA
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

route_table := {
	"question": "user",
	"typo": "fixer",
}

precedence := ["stuck", "user", "fixer"]

decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	input.routes.stuck > 0
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	_work
	input.round >= input.max_rounds
} else := {"next_action": "user", "reason": "routed"} if {
	input.routes.user > 0
} else := {"next_action": "fixer", "reason": "routed"} if {
	input.routes.fixer > 0
} else := {"next_action": "fixer", "reason": "verify-red"} if {
	input.verify == "red"
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
}

_work if input.finding_count > 0

_work if input.verify == "red"
`

// small returns that policy with texts replaced.
func small(t *testing.T, pairs ...string) *routing.Policy {
	t.Helper()
	return build(t, replaced(t, smallSource, pairs...))
}
