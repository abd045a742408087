package mixin

// sums are the totals that the other rules take the increase of.
func sums(t terms) Group {
	return Group{Name: "switchyard.sums", Interval: "1m", Rules: []Rule{
		record("switchyard:rounds:sum", "decisions", t.totalOrZero("switchyard_rounds_total")),
		record("switchyard_next_action:rounds:sum", "decisions, by where they went", t.total("switchyard_rounds_total", "next_action")),
		record("switchyard:round_failures:sum", "rounds that came to no decision", t.totalOrZero("switchyard_round_failures_total")),
		record("switchyard:stuck:sum", "how often tasks became stuck", t.totalOrZero("switchyard_stuck_total")),
		record("switchyard:findings_seen:sum", "findings of reviews", t.totalOrZero(`switchyard_finding_progress_total{progress=~"new|repeat|reopened"}`)),
		record("switchyard:findings_returned:sum", "those of them that were there before: repeated or reopened", t.totalOrZero(`switchyard_finding_progress_total{progress=~"repeat|reopened"}`)),
		record("switchyard:spawns:sum", "runs of agents", t.totalOrZero("switchyard_spawns_total")),
		record("switchyard:spawn_fallbacks:sum", "those after which another adapter or the caller took over", t.totalOrZero("switchyard_spawn_fallbacks_total")),
		record("switchyard:spawn_critic_errors:sum", "those that ended in critic-error", t.totalOrZero(`switchyard_spawns_total{outcome="critic-error"}`)),
		record("switchyard:spawn_cost_dollars:sum", "what they cost", t.totalOrZero("switchyard_spawn_cost_dollars_total")),
		record("switchyard:committed_tasks:sum", "tasks that were committed", either("count", "switchyard_task_rounds")),
		record("switchyard:committed_task_rounds:sum", "rounds that they took", either("sum", "switchyard_task_rounds")),
	}}
}

// either is a number of a histogram without labels of its own. Where Prometheus takes
// native histograms, the classic series are missing unless it is told to keep them.
func either(number, histogram string) string {
	return histogram + "_" + number + "\nor\nhistogram_" + number + "(" + histogram + ")"
}
