package mixin

import "fmt"

// drift compares where the policy that was adopted last sends rounds with where the
// one before did.
//
// It compares all that each has ever decided, which needs no window: the counters
// begin with the ledger. The one before is the newest that was adopted earlier and
// has decided enough rounds to be compared with. Rounds are counted by the policy's
// version, and so two states of a version that was never released are one.
func drift(t terms, limits Thresholds) Group {
	const adopted = "switchyard_policy_version:policy_adopted_timestamp_seconds:max"
	const current = "switchyard_policy_version:policy_current_timestamp_seconds:max"
	const previous = "switchyard_policy_version:policy_previous_timestamp_seconds:max"
	const was, is = "switchyard_next_action:policy_previous_rounds:share", "switchyard_next_action:policy_current_rounds:share"
	enough := fmt.Sprintf("(switchyard_policy_version:rounds:sum >= %d)", limits.DriftRounds)
	of := func(policy string) string {
		return "sum without (policy_version) (\n  switchyard_policy_version_next_action:rounds:share\n" +
			"  and ignoring (next_action) (" + policy + " and " + enough + ")\n)"
	}
	rounds := func(policy string) string {
		return "sum without (policy_version) (switchyard_policy_version:rounds:sum and " + policy + ")"
	}
	return Group{Name: "switchyard.policies", Interval: "1m", Rules: []Rule{
		record("switchyard_policy_version:rounds:sum", "decisions, by the policy that made them", t.total("switchyard_rounds_total", "policy_version")),
		record("switchyard_policy_version_next_action:rounds:share", "where each policy sent all rounds that it ever decided",
			"switchyard_rounds_total\n/ ignoring (next_action) group_left ()\n(switchyard_policy_version:rounds:sum > 0)"),
		record(adopted, "when each version of the policy was adopted last",
			"max without (digest, version) (\n"+
				`  label_replace(switchyard_policy_adopted_timestamp_seconds, "policy_version", "$1", "version", "(.*)")`+"\n)"),
		record(current, "the current policy: the one that was adopted last",
			"topk without (policy_version) (1, "+adopted+")"),
		record(previous, "the previous policy: the newest before it that has decided enough rounds to compare with",
			"topk without (policy_version) (\n  1,\n  ("+adopted+" unless "+current+")\n  and "+enough+"\n)"),
		record(was, "where the previous policy sent them", of(previous)),
		record(is, "where the current policy sent them, if they are enough", of(current)),
		// An action that only one of the two ever took is the distance by itself.
		record("switchyard:policy_drift:distance", "how many of the rounds go another way under the current policy than under the previous one: the total variation distance",
			"sum without (next_action) (\n  abs("+is+" - "+was+")\n"+
				"  or "+is+"\n  or "+was+"\n) / 2\n"+
				"and count without (next_action) ("+is+")\nand count without (next_action) ("+was+")"),
		// What chance alone comes to at most, on average, where nothing has changed:
		// k actions seen n and m times differ by sqrt(k (1/n + 1/m)) / 2.
		record("switchyard:policy_drift:noise", "how many would by chance, at most, on average",
			"sqrt(\n  count without (next_action) (("+is+" > 0) or ("+was+" > 0))\n"+
				"  * (\n    1 / "+rounds(current)+"\n    + 1 / "+rounds(previous)+"\n  )\n) / 2\n"+
				"and switchyard:policy_drift:distance"),
	}}
}
