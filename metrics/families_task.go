package metrics

import "github.com/switchyard-dev/switchyard/internal/counters"

func taskFamilies() []Family {
	stuck := counter("stuck_total", "Times that tasks became stuck, by the reason.", counters.Stops(), open("reason"))
	stuck.seeds = func(Seed, [][]string) [][]string {
		return combined([]string{"budget", "by-hand", "max-rounds", "no-progress", "stuck-finding"})
	}
	status := of("status", "committed", "open", "stuck", "waiting")
	standing := of("status", "stuck", "waiting")
	budget := of("budget", "task-dollars", "task-rounds", "task-time", "task-tokens")
	rounds := counters.TaskRounds()
	return []Family{
		stuck,
		counter("budget_stops_total", "Times that tasks became stuck since a budget was exhausted, by the budget.",
			counters.BudgetStops(), of("budget", "round-dollars", "round-time", "round-tokens", "task-dollars", "task-rounds", "task-time", "task-tokens")),
		{
			Name: "budget_used_ratio_max", Kind: Gauge, Labels: []Label{budget}, measure: counters.BudgetUse(), aggregation: greatest, per: 1000,
			Help: "Greatest used part of a budget among the tasks that are not committed, 1 for all of it.",
		},
		counter("resumes_total", "Times that stuck tasks went on, by how.",
			counters.Resumes(), of("mode", "manual", "replan", "reset", "rounds")),
		{
			Name: "tasks", Kind: Gauge, Labels: []Label{status}, measure: counters.Tasks(), aggregation: sums,
			Help: "Tasks, by where they stand.", seeds: fixed([]Label{status}),
		},
		{
			Name: "tasks_oldest_timestamp_seconds", Kind: Gauge, Unit: "seconds", Labels: []Label{standing}, measure: counters.BlockedTasks(), aggregation: oldest,
			Help: "Time since when the task stands there that has done so for the longest.",
		},
		{
			Name: "task_rounds", Kind: Histogram, Buckets: []float64{1, 2, 3, 4, 5, 7, 10, 20, 50, 100},
			measure: rounds.Measure, scale: rounds.Scale, aggregation: histogramCells, seeds: fixed(nil),
			Help: "Rounds that tasks had taken when they were committed.",
		},
	}
}
