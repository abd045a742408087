package api

import "github.com/switchyard-dev/switchyard/internal/errs"

// Summary aggregates all tasks of a project. Committed tasks are included permanently.
type Summary struct {
	// Tasks is the number of readable tasks; the other numbers are about these.
	Tasks int
	// Rounds is the sum of the tasks' current rounds, and Average their mean with two
	// decimals, 0 without tasks.
	Rounds  int
	Average float64
	// Stuck and Committed are the numbers of tasks with these statuses.
	Stuck, Committed int
	// Routes counts the tasks by their last destination, from the latest decision or a
	// manual stop. The routing policy's destinations are always included.
	Routes map[string]int
	// Categories counts the findings of every round, as left by its latest review or by a
	// later manual stop.
	Categories map[string]int
	// Histogram counts the tasks by current round. The rounds up to the project's cap are
	// always included.
	Histogram map[int]int
	// Overrides is the number of gates forced so far.
	Overrides int
	// Unreadable are the tasks with a tampered record, by id.
	Unreadable []Unreadable
}

// Unreadable is a task whose record was changed and cannot be read.
type Unreadable struct {
	TaskID string
	Err    *errs.Error
}
