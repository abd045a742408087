package mixin

import "fmt"

// ratios are shares and means over an hour and a day, and of this moment.
func ratios(t terms) Group {
	rules := []Rule{}
	for _, window := range []string{"1h", "1d"} {
		rules = append(rules,
			record("switchyard:spawn_fallbacks_per_spawns:ratio_increase"+window, "share of the runs that fell back",
				ratio("switchyard:spawn_fallbacks:sum", "switchyard:spawns:sum", window)))
	}
	rules = append(rules,
		record("switchyard:spawn_critic_errors_per_spawns:ratio_increase1d", "share of the runs that ended in critic-error",
			ratio("switchyard:spawn_critic_errors:sum", "switchyard:spawns:sum", "1d")),
		record("switchyard:round_failures_per_attempts:ratio_increase1d", "share of the rounds that came to no decision",
			fmt.Sprintf("increase(%[1]s[1d])\n/\n(increase(%[2]s[1d]) + increase(%[1]s[1d]) > 0)",
				"switchyard:round_failures:sum", "switchyard:rounds:sum")),
		record("switchyard:spawn_duration_seconds:p95_increase1d", "95 % of the runs took less",
			"(\n  histogram_quantile(0.95, increase(switchyard_spawn_duration_seconds_bucket[1d]))\n"+
				"  and (increase(switchyard_spawn_duration_seconds_count[1d]) > 0)\n)\nor\n(\n"+
				"  histogram_quantile(0.95, increase(switchyard_spawn_duration_seconds[1d]))\n"+
				"  and (histogram_count(increase(switchyard_spawn_duration_seconds[1d])) > 0)\n)"),
		record("switchyard_next_action:rounds:share_increase1d", "where the rounds of a day went", share("1d")),
		record("switchyard:tasks_stuck_per_unfinished:ratio", "share of the unfinished tasks that are stuck now",
			t.total(`switchyard_tasks{status="stuck"}`)+"\n/\n("+t.total(`switchyard_tasks{status!="committed"}`)+" > 0)"),
	)
	return Group{Name: "switchyard.ratios", Interval: "1m", Rules: rules}
}

// convergence says over a week how tasks come to their end.
func convergence() Group {
	return Group{Name: "switchyard.convergence", Interval: "5m", Rules: []Rule{
		record("switchyard_next_action:rounds:share_increase7d", "where the rounds of a week went", share("7d")),
		record("switchyard:stuck_per_rounds:ratio_increase7d", "share of the rounds that left their task stuck",
			ratio("switchyard:stuck:sum", "switchyard:rounds:sum", "7d")),
		// A task that was stuck, went on and was committed counts on both sides.
		record("switchyard:tasks_ended:increase7d", "commits and stops",
			"increase(switchyard:committed_tasks:sum[7d]) + increase(switchyard:stuck:sum[7d])"),
		record("switchyard:tasks_committed_per_ended:ratio_increase7d", "share of the commits among them",
			"increase(switchyard:committed_tasks:sum[7d])\n/\n(switchyard:tasks_ended:increase7d > 0)"),
		record("switchyard:task_rounds:mean_increase7d", "rounds that a committed task took",
			ratio("switchyard:committed_task_rounds:sum", "switchyard:committed_tasks:sum", "7d")),
		record("switchyard:findings_returned_per_seen:ratio_increase7d", "share of the findings that were repeated or reopened",
			ratio("switchyard:findings_returned:sum", "switchyard:findings_seen:sum", "7d")),
		record("switchyard:spawn_cost_dollars_per_committed_task:ratio_increase7d", "what all runs cost, by the tasks that were committed",
			ratio("switchyard:spawn_cost_dollars:sum", "switchyard:committed_tasks:sum", "7d")),
	}}
}

// ratio divides two increases. It is absent where the divisor did not increase.
func ratio(part, whole, window string) string {
	return fmt.Sprintf("increase(%s[%s])\n/\n(increase(%s[%[2]s]) > 0)", part, window, whole)
}

// share is what part of the rounds went each way.
func share(window string) string {
	return fmt.Sprintf("increase(switchyard_next_action:rounds:sum[%[1]s])\n/ ignoring (next_action) group_left ()\n"+
		"(increase(switchyard:rounds:sum[%[1]s]) > 0)", window)
}
