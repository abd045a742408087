package api

import "github.com/switchyard-dev/switchyard/internal/errs"

// Summary aggregates all tasks of a project. Committed tasks are included permanently.
// Its form as JSON is that of the verb loop-metrics.
type Summary struct {
	// Tasks is the number of readable tasks; the other numbers are about these.
	Tasks int `json:"tasks_with_loop"`
	// Rounds is the sum of the tasks' current rounds, and Average their mean with two
	// decimals, 0 without tasks.
	Rounds  int     `json:"total_rounds"`
	Average float64 `json:"average_rounds"`
	// Stuck and Committed are the numbers of tasks with these statuses.
	Stuck     int `json:"stuck_count"`
	Committed int `json:"commit_count"`
	// Routes counts the tasks by their last destination, from the latest decision or a
	// manual stop. The routing policy's destinations are always included.
	Routes map[string]int `json:"route_distribution"`
	// Categories counts the findings of every round, as left by its latest review or by a
	// later manual stop.
	Categories map[string]int `json:"finding_categories"`
	// Histogram counts the tasks by current round. The rounds up to the project's cap are
	// always included.
	Histogram map[int]int `json:"rounds_histogram"`
	// Unreadable are the tasks with a tampered record, by id.
	Unreadable []UnreadableTask `json:"corrupt_checkpoints"`
	// Overrides is the number of gates forced so far.
	Overrides int `json:"overrides"`
}

// UnreadableTask is a task whose record was changed and cannot be read.
type UnreadableTask struct {
	TaskID  string    `json:"path"`
	Code    errs.Code `json:"reason"`
	Message string    `json:"message"`
}
