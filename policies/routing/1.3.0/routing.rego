# METADATA
# title: Routing
# description: |
#   Where a task goes after a round of review. Every category of finding has one destination, and the task goes to
#   the strongest destination that has work. The decision is made from counts and never sees a finding, so its cost
#   does not depend on how many there are. A task whose reviews keep saying the same is taken out of the loop, and
#   one whose reviews keep finding something new is asked to settle what matters.
# custom:
#   version: 1.3.0
#   adr: ADR-0024
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
	"contradiction": "askuser",
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
# title: Bar
# description: |
#   The severity from which a finding must be settled. It rises when reviews stop finding less than before, when fixes
#   cause the failures that are found, and near the end of the task. The host defers the findings below it, and never
#   lowers it again.
# entrypoint: true
bar := "fail" if {
	input.reviews_since_low >= 3
} else := "risk" if {
	input.reviews_since_low >= 2
} else := "risk" if {
	input.induced_rounds >= 2
} else := "risk" if {
	_late
	_not_converging
} else := "all"

# METADATA
# title: Decision
# description: |
#   The next action and the reason for it, from the first branch that holds. Every branch requires positive evidence:
#   an input that is incomplete, or contradicts itself in what is read here, can end without a decision, but never in a
#   commit. A task goes past its cap only after a productive review. If fixes cause all failures of two reviews in a
#   row, the plan is checked: restructure or cut. If that does not help, the user is asked.
# entrypoint: true
decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	"stuck" in _present
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	count(_present) > 0
	input.round >= input.max_rounds
	not input.may_extend
} else := {"next_action": "stuck", "reason": "no-progress"} if {
	input.stalled_rounds >= 2
	_strongest != "askuser"
} else := {"next_action": "askuser", "reason": "churn"} if {
	input.induced_rounds >= 3
	_strongest != "askuser"
} else := {"next_action": "plan-checker", "reason": "churn"} if {
	input.induced_rounds >= 2
	not _strongest in {"askuser", "plan-checker"}
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

# From round 5 on, and in the round before the last one, minor findings cost more than they are worth. What a first
# review finds can still be fixed.
_late if input.round >= 5

_late if {
	input.round > 1
	input.rounds_left <= 1
}

# Nothing that is found is a failure, or there was less to find before.
_not_converging if {
	input.finding_count > 0
	input.blocking_count == 0
}

_not_converging if input.reviews_since_low >= 1
