# METADATA
# title: Routing
# description: |
#   Where a task goes after a round of review. Every category of finding has one destination, and the task goes to
#   the strongest destination that has work. The decision is made from counts and never sees a finding, so its cost
#   does not depend on how many there are. A task whose reviews keep saying the same is taken out of the loop.
# custom:
#   version: 1.2.0
#   adr: ADR-0003
package switchyard.routing

# METADATA
# title: Destinations
# description: Everywhere a task can go, who takes it there, and whether going there begins a new round.
destinations := {
	"askuser": {"kind": "human", "advances_round": true},
	"commit": {"kind": "terminal", "advances_round": false},
	"executor": {"kind": "agent", "advances_round": true},
	"plan-checker": {"kind": "agent", "advances_round": false},
	"researcher": {"kind": "agent", "advances_round": true},
	"stuck": {"kind": "terminal", "advances_round": false},
}

# METADATA
# title: Route table
# description: The destination of every known category. The host sends a category that is missing here to stuck.
route_table := {
	"comment-hygiene": "executor",
	"critic-error": "stuck",
	"dangling-thread": "executor",
	"dead-code": "executor",
	"edge-case-gap": "executor",
	"import-hygiene": "executor",
	"information-missing": "researcher",
	"infrastructure-mismatch": "plan-checker",
	"lint-violation": "executor",
	"locked-decision-violation": "plan-checker",
	"missing-test": "executor",
	"native-duplication": "executor",
	"non-deterministic": "executor",
	"over-engineering": "executor",
	"question-to-user": "askuser",
	"rule-9-violation": "executor",
	"scope-creep": "executor",
	"shrinkable": "executor",
	"silenced-failure": "executor",
	"skill-bar-unconsulted": "executor",
	"stdlib-reinvention": "executor",
	"stuck-detected": "stuck",
	"style": "executor",
	"test-naming": "executor",
	"todo-marker": "executor",
	"unmet-criterion": "executor",
	"verify-mismatch": "executor",
	"weak-assertion": "executor",
}

# METADATA
# title: Precedence
# description: The destinations of findings, strongest first. What must be settled first outranks what waits for it.
precedence := ["stuck", "askuser", "plan-checker", "researcher", "executor"]

# METADATA
# title: Decision
# description: |
#   The next action and the reason for it, from the first rung of the ladder that holds. Every rung asks for positive
#   evidence: an input that is incomplete, or contradicts itself in what is read here, can end without a decision, but
#   never in a commit. One review without progress may be bad luck, two end the loop; but where the user is to be asked,
#   the answer may set it going again.
# entrypoint: true
decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	"stuck" in _present
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	count(_present) > 0
	input.round >= input.max_rounds
} else := {"next_action": "stuck", "reason": "no-progress"} if {
	input.stalled_rounds >= 2
	_strongest != "askuser"
} else := {"next_action": _strongest, "reason": "routed"} if {
	input.finding_count > 0
} else := {"next_action": "executor", "reason": "verify-red"} if {
	input.verify == "red"
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
	input.stalled_rounds == 0
	every n in input.routes { n == 0 }
	input.verify in {"green", "absent"}
}

# The destinations that have work: findings, and for the executor also a red verification.
_present contains destination if {
	some destination, n in input.routes
	n > 0
}

_present contains "executor" if input.verify == "red"

_strongest := [destination | some destination in precedence; destination in _present][0]
