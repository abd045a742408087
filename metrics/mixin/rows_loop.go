package mixin

func nowRow() Row {
	return Row{"Now", []Panel{
		number("Tasks", "", unitCount, "sum by (status) (switchyard_tasks{@})", "{{status}}").wide(8),
		number("Stands for the longest", "Since when the oldest task is stuck, or waits for an answer.", unitAgo,
			"min by (status) (switchyard_tasks_oldest_timestamp_seconds{@}) * 1000", "{{status}}").wide(6),
		number("Rounds", "Decisions in the time that is shown.", unitCount, "sum(increase(switchyard_rounds_total{@}[$__range]))", ""),
		number("Fall back", "Share of the agents' runs of the last day after which another adapter or the caller took over.", unitShare,
			"switchyard:spawn_fallbacks_per_spawns:ratio_increase1d{@}", ledger).wide(6),
	}}
}

func roundRow() Row {
	return Row{"Rounds and routes", []Panel{
		counted("Rounds by next action", "", "switchyard_rounds_total", "next_action", 12),
		followed("Where rounds go, share of a day", "", unitShare, "{{next_action}} {{project}}", 12, "switchyard_next_action:rounds:share_increase1d"),
		followed("Where rounds go, share of a week", "", unitShare, "{{next_action}} {{project}}", 12, "switchyard_next_action:rounds:share_increase7d"),
		counted("Verifications that decisions rest on", "", "switchyard_round_verifications_total", "verify", 6),
		counted("Gates that were forced", "", "switchyard_forced_gates_total", "phase", 6),
	}}
}

func taskRow() Row {
	return Row{"Tasks and convergence", []Panel{
		{"Tasks by status", "", Lines, 8, 8, unitCount, []Query{query("sum by (status) (switchyard_tasks{@})", "{{status}}")}},
		{"Rounds to a commit", "How many committed tasks took so many rounds, in the time that is shown.", Levels, 8, 8, unitCount, []Query{
			{within("sum by (le) (increase(switchyard_task_rounds_bucket{@}[$__range]))"), "{{le}}", true},
		}},
		followed("Rounds of a committed task, mean of a week", "", unitCount, ledger, 8, "switchyard:task_rounds:mean_increase7d"),
		followed("Committed, not stuck: share of a week", "A task that was stuck and then committed counts on both sides.", unitShare, ledger, 8,
			"switchyard:tasks_committed_per_ended:ratio_increase7d"),
		{"Stuck", "Share of the unfinished tasks that are stuck now, and of a week's rounds that ended in stuck.", Lines, 8, 8, unitShare, []Query{
			query("switchyard:tasks_stuck_per_unfinished:ratio{@}", "of the tasks "+ledger),
			query("switchyard:stuck_per_rounds:ratio_increase7d{@}", "of the rounds "+ledger),
		}},
		counted("Became stuck, by reason", "", "switchyard_stuck_total", "reason", 8),
		counted("Went on, by how", "", "switchyard_resumes_total", "mode", 8),
		{"Questions", "", Bars, 8, 8, unitCount, []Query{query("sum(increase(switchyard_questions_total{@}[$__rate_interval]))", "questions")}},
		quantiles("Time to an answer", "In the time that is shown up to then.", "switchyard_question_wait_seconds", 8),
	}}
}

func findingRow() Row {
	return Row{"Findings", []Panel{
		ranked("By category", "The most frequent ones in the time that is shown.", "switchyard_findings_total", "category", 8),
		counted("By severity", "", "switchyard_findings_total", "severity", 8),
		counted("By route", "", "switchyard_findings_total", "route", 8),
		counted("Against the reviews before", "", "switchyard_finding_progress_total", "progress", 8),
		followed("Repeated or reopened, share of a week", "", unitShare, ledger, 8, "switchyard:findings_returned_per_seen:ratio_increase7d"),
		{"Reviews without progress", "", Bars, 8, 8, unitCount, []Query{
			query("sum(increase(switchyard_rounds_without_progress_total{@}[$__rate_interval]))", "reviews"),
		}},
	}}
}

// wide is the panel with another width.
func (p Panel) wide(columns int) Panel {
	p.Width = columns
	return p
}
