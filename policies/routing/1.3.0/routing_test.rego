package switchyard.routing_test

import data.switchyard.routing

test_success_destinations if {
	routing.destinations == {
		"askuser": {"kind": "human", "advances_round": true},
		"commit": {"kind": "terminal", "advances_round": false},
		"executor": {"kind": "agent", "advances_round": true},
		"plan-checker": {"kind": "agent", "advances_round": false},
		"researcher": {"kind": "agent", "advances_round": true},
		"stuck": {"kind": "terminal", "advances_round": false},
	}
}

test_success_route_table if {
	categories := {
		"askuser": {"contradiction", "question-to-user"},
		"executor": {
			"comment-hygiene", "dangling-thread", "dead-code", "edge-case-gap", "import-hygiene", "lint-violation",
			"missing-test", "native-duplication", "non-deterministic", "over-engineering", "rule-9-violation",
			"scope-creep", "shrinkable", "silenced-failure", "skill-bar-unconsulted", "stdlib-reinvention", "style",
			"test-naming", "todo-marker", "unmet-criterion", "verify-mismatch", "weak-assertion",
		},
		"plan-checker": {"infrastructure-mismatch", "locked-decision-violation"},
		"researcher": {"information-missing"},
		"stuck": {"critic-error", "stuck-detected"},
	}
	routing.route_table == {category: destination | some destination, category; categories[destination][category]}
}

test_success_precedence if {
	routing.precedence == ["stuck", "askuser", "plan-checker", "researcher", "executor"]
}

test_success_findings_go_to_the_strongest_destination if {
	cases := {
		"executor alone": {"routes": {"executor": 3}, "want": "executor"},
		"researcher over executor": {"routes": {"executor": 3, "researcher": 1}, "want": "researcher"},
		"plan-checker over researcher": {"routes": {"plan-checker": 1, "researcher": 2}, "want": "plan-checker"},
		"askuser over plan-checker": {"routes": {"askuser": 1, "plan-checker": 2}, "want": "askuser"},
		"askuser over all": {
			"routes": {"askuser": 1, "executor": 1, "plan-checker": 1, "researcher": 1, "stuck": 0},
			"want": "askuser",
		},
		"a count of 0 is no finding": {"routes": {"askuser": 0, "researcher": 0, "executor": 1}, "want": "executor"},
	}
	failed := {note |
		some note, case in cases
		some verify in {"green", "absent", "red"}
		want := {"next_action": case.want, "reason": "routed"}
		not routing.decision == want with input as _round(1, case.routes, verify)
	}
	failed == set()
}

test_success_a_stuck_finding_ends_the_loop if {
	failed := {[round, verify] |
		some round in {1, 2, 3, 4}
		some verify in {"green", "absent", "red"}
		routes := {"askuser": 1, "executor": 5, "stuck": 1}
		want := {"next_action": "stuck", "reason": "stuck-finding"}
		not routing.decision == want with input as _round(round, routes, verify)
	}
	failed == set()
}

test_success_the_cap_ends_the_loop if {
	cases := {
		"findings in the last round": {"round": 3, "routes": {"executor": 1}, "verify": "green"},
		"findings behind the cap": {"round": 7, "routes": {"executor": 1}, "verify": "absent"},
		"a question in the last round": {"round": 3, "routes": {"askuser": 1}, "verify": "green"},
		"findings and red": {"round": 3, "routes": {"researcher": 2}, "verify": "red"},
		"red alone": {"round": 3, "routes": {}, "verify": "red"},
	}
	failed := {note |
		some note, case in cases
		want := {"next_action": "stuck", "reason": "max-rounds"}
		not routing.decision == want with input as _round(case.round, case.routes, case.verify)
	}
	failed == set()
}

test_success_a_productive_review_passes_the_cap if {
	cases := {
		"at the cap": {"round": 3, "routes": {"executor": 2}, "want": "executor"},
		"past the cap": {"round": 5, "routes": {"executor": 1, "researcher": 1}, "want": "researcher"},
		"a question": {"round": 3, "routes": {"askuser": 1}, "want": "askuser"},
	}
	failed := {note |
		some note, case in cases
		want := {"next_action": case.want, "reason": "routed"}
		not routing.decision == want with input as _with(_round(case.round, case.routes, "green"), {"may_extend": true})
	}
	failed == set()
}

test_success_no_review_passes_stuck_findings_or_a_standstill if {
	cases := {
		"a stuck finding": {"input": _round(3, {"stuck": 1}, "green"), "reason": "stuck-finding"},
		"a standstill": {"input": _stalled(3, {"executor": 1}, "green", 2), "reason": "no-progress"},
	}
	failed := {note |
		some note, case in cases
		want := {"next_action": "stuck", "reason": case.reason}
		not routing.decision == want with input as _with(case.input, {"may_extend": true})
	}
	failed == set()
}

test_success_fixes_that_cause_all_failures_go_to_the_plan_checker if {
	cases := {
		"executor": {"routes": {"executor": 2}, "want": {"next_action": "plan-checker", "reason": "churn"}},
		"researcher": {"routes": {"researcher": 1}, "want": {"next_action": "plan-checker", "reason": "churn"}},
		"plan-checker already": {
			"routes": {"plan-checker": 1},
			"want": {"next_action": "plan-checker", "reason": "routed"},
		},
		"askuser already": {"routes": {"askuser": 1}, "want": {"next_action": "askuser", "reason": "routed"}},
	}
	failed := {note |
		some note, case in cases
		not routing.decision == case.want with input as _with(_round(2, case.routes, "green"), {"induced_rounds": 2})
	}
	failed == set()
}

test_success_fixes_that_still_cause_all_failures_go_to_the_user if {
	failed := {[routes, rounds] |
		some routes in [{"executor": 1}, {"researcher": 1}, {"plan-checker": 2}]
		some rounds in {3, 4, 50}
		want := {"next_action": "askuser", "reason": "churn"}
		not routing.decision == want with input as _with(_round(2, routes, "red"), {"induced_rounds": rounds})
	}
	asked := {"next_action": "askuser", "reason": "routed"}
	failed == set()
	routing.decision == asked with input as _with(_round(2, {"askuser": 1}, "green"), {"induced_rounds": 3})
}

test_success_one_induced_round_is_routed if {
	want := {"next_action": "executor", "reason": "routed"}
	routing.decision == want with input as _with(_round(2, {"executor": 1}, "green"), {"induced_rounds": 1})
}

test_success_the_cap_ends_churn if {
	failed := {rounds |
		some rounds in {2, 3}
		want := {"next_action": "stuck", "reason": "max-rounds"}
		not routing.decision == want with input as _with(_round(3, {"executor": 1}, "green"), {"induced_rounds": rounds})
	}
	failed == set()
}

test_success_deferred_findings_do_not_keep_a_task if {
	want := {"next_action": "commit", "reason": "no-findings"}
	routing.decision == want with input as _with(_round(4, {"executor": 0}, "green"), {"deferred_count": 7})
}

test_success_bar if {
	nits := {"finding_count": 2, "routes": {"executor": 2}, "new_count": 2, "blocking_count": 0}
	later := object.union(nits, {"round": 2})
	cases := {
		"a first review": {"facts": {}, "want": "all"},
		"one review since the low": {"facts": {"reviews_since_low": 1}, "want": "all"},
		"two reviews since the low": {"facts": {"reviews_since_low": 2}, "want": "risk"},
		"three reviews since the low": {"facts": {"reviews_since_low": 3}, "want": "fail"},
		"ten reviews since the low": {"facts": {"reviews_since_low": 10}, "want": "fail"},
		"one induced round": {"facts": {"induced_rounds": 1}, "want": "all"},
		"two induced rounds": {"facts": {"induced_rounds": 2}, "want": "risk"},
		"induced rounds, and less and less": {"facts": {"induced_rounds": 9, "reviews_since_low": 2}, "want": "risk"},
		"three reviews since the low, all induced": {"facts": {"induced_rounds": 3, "reviews_since_low": 3}, "want": "fail"},
		"failures in round 5": {"facts": {"round": 5}, "want": "all"},
		"failures in round 5, more than before": {"facts": {"round": 5, "reviews_since_low": 1}, "want": "risk"},
		"no failures in round 5": {"facts": object.union(nits, {"round": 5}), "want": "risk"},
		"no failures in round 4": {"facts": object.union(nits, {"round": 4}), "want": "all"},
		"failures in the round before the last": {"facts": {"round": 2, "rounds_left": 1}, "want": "all"},
		"no failures in the round before the last": {"facts": object.union(later, {"rounds_left": 1}), "want": "risk"},
		"no failures in the last round": {"facts": object.union(later, {"rounds_left": 0}), "want": "risk"},
		"no failures two rounds before the last": {"facts": object.union(later, {"rounds_left": 2}), "want": "all"},
		"no failures in a first review": {"facts": object.union(nits, {"rounds_left": 1}), "want": "all"},
		"nothing in a late round": {
			"facts": {"round": 9, "finding_count": 0, "routes": {}, "blocking_count": 0},
			"want": "all",
		},
	}
	failed := {note |
		some note, case in cases
		not routing.bar == case.want with input as _with(_round(1, {"executor": 1}, "green"), case.facts)
	}
	failed == set()
}

test_fail_bar_without_facts_is_all if {
	routing.bar == "all" with input as {}
}

test_success_red_without_findings_goes_to_the_executor if {
	decision := routing.decision with input as _round(2, {"askuser": 0}, "red")
	decision == {"next_action": "executor", "reason": "verify-red"}
}

test_success_nothing_open_commits_in_any_round if {
	failed := {[round, verify] |
		some round in {1, 2, 3, 4}
		some verify in {"green", "absent"}
		want := {"next_action": "commit", "reason": "no-findings"}
		not routing.decision == want with input as _round(round, {"executor": 0}, verify)
	}
	failed == set()
}

test_success_two_reviews_without_progress_end_the_loop if {
	failed := {[routes, verify, stalled] |
		some routes in [{"executor": 3}, {"plan-checker": 1}, {"researcher": 2, "executor": 1, "askuser": 0}]
		some verify in {"green", "absent", "red"}
		some stalled in {2, 3, 50}
		want := {"next_action": "stuck", "reason": "no-progress"}
		not routing.decision == want with input as _stalled(1, routes, verify, stalled)
	}
	failed == set()
}

test_success_one_review_without_progress_is_routed if {
	failed := {[round, verify] |
		some round in {1, 2}
		some verify in {"green", "absent", "red"}
		want := {"next_action": "executor", "reason": "routed"}
		not routing.decision == want with input as _stalled(round, {"executor": 1}, verify, 1)
	}
	failed == set()
}

test_success_the_user_is_asked_however_long_nothing_changed if {
	failed := {[routes, stalled] |
		some routes in [{"askuser": 1}, {"askuser": 1, "plan-checker": 2, "executor": 3}]
		some stalled in {1, 2, 50}
		want := {"next_action": "askuser", "reason": "routed"}
		not routing.decision == want with input as _stalled(2, routes, "green", stalled)
	}
	failed == set()
}

test_success_older_reasons_to_stop_come_first if {
	cases := {
		"a stuck finding": {"round": 1, "routes": {"executor": 1, "stuck": 1}, "reason": "stuck-finding"},
		"the cap": {"round": 3, "routes": {"executor": 1}, "reason": "max-rounds"},
		"the cap and a question": {"round": 3, "routes": {"askuser": 1}, "reason": "max-rounds"},
		"all of them": {"round": 3, "routes": {"askuser": 1, "stuck": 1}, "reason": "stuck-finding"},
	}
	failed := {note |
		some note, case in cases
		want := {"next_action": "stuck", "reason": case.reason}
		not routing.decision == want with input as _stalled(case.round, case.routes, "green", 2)
	}
	failed == set()
}

test_fail_malformed_input_has_no_decision if {
	clean := _round(1, {}, "green")
	cases := {
		"empty": {},
		"no finding_count": object.remove(clean, {"finding_count"}),
		"no routes": object.remove(clean, {"routes"}),
		"no verify": object.remove(clean, {"verify"}),
		"unknown verify": object.union(clean, {"verify": "GREEN"}),
		"finding_count is text": object.union(clean, {"finding_count": "0"}),
		"negative finding_count": object.union(clean, {"finding_count": -1}),
		"negative route": object.union(clean, {"routes": {"executor": -1}}),
		"routes without findings": object.union(clean, {"routes": {"executor": 1}}),
		"findings without routes": object.union(clean, {"finding_count": 1}),
		"no stalled_rounds": object.remove(clean, {"stalled_rounds"}),
		"stalled without findings": object.union(clean, {"stalled_rounds": 2}),
		"stalled by nobody knows what": _stalled(1, {"nowhere": 1}, "green", 2),
		"unknown destination": _round(1, {"nowhere": 1}, "green"),
		"finding sent to commit": _round(1, {"commit": 1}, "green"),
		"churn without findings": _with(clean, {"induced_rounds": 0, "finding_count": 1}),
	}
	decided := {note | some note, case in cases; routing.decision with input as case}
	decided == set()
}

# A round whose findings are all new, and block.
_round(round, routes, verify) := {
	"round": round,
	"max_rounds": 3,
	"finding_count": found,
	"routes": routes,
	"verify": verify,
	"new_count": found,
	"repeat_count": 0,
	"reopened_count": 0,
	"resolved_count": 0,
	"no_progress": false,
	"stalled_rounds": 0,
	"hard_cap": 6,
	"rounds_left": 3,
	"may_extend": false,
	"first_time_count": found,
	"reviews_since_low": 0,
	"induced_count": 0,
	"induced_rounds": 0,
	"blocking_count": found,
	"deferred_count": 0,
	"confinement": "none",
} if {
	found := sum([n | some n in routes])
}

# A round with some fields changed.
_with(round, fields) := object.union(object.remove(round, object.keys(fields)), fields)

# A round whose findings are all repeats, for so many reviews in a row.
_stalled(round, routes, verify, rounds) := object.union(fresh, {
	"new_count": 0,
	"repeat_count": fresh.finding_count,
	"no_progress": true,
	"stalled_rounds": rounds,
}) if {
	fresh := _round(round, routes, verify)
}
