package api

import "github.com/switchyard-dev/switchyard/internal/errs"

// Summary is what all tasks of a project came to. Committed tasks are part of it
// for ever.
type Summary struct {
	// Tasks counts those that could be read; the other numbers are theirs.
	Tasks int
	// Rounds adds up the rounds that the tasks are in, and Average is their mean
	// with two decimals, 0 without a task.
	Rounds  int
	Average float64
	// Stuck and Committed count the tasks of these statuses.
	Stuck, Committed int
	// Routes counts the tasks by where they were sent last: by their newest
	// decision, or by the person who put them aside. Those of the routing policy
	// are always there.
	Routes map[string]int
	// Categories counts the findings of every round, as its newest review or the
	// person who put the task aside then left them.
	Categories map[string]int
	// Histogram counts the tasks by the round that they are in. The rounds up to
	// the project's cap are always there.
	Histogram map[int]int
	// Overrides counts the gates that were ever forced.
	Overrides int
	// Unreadable are the tasks whose record was changed, by id.
	Unreadable []Unreadable
}

// Unreadable is a task whose record was changed so that it cannot be read.
type Unreadable struct {
	TaskID string
	Err    *errs.Error
}
