// Package nubospilot reads nubos-pilot's data in a project: its settings and the
// checkpoints of unfinished tasks, so that a project can migrate.
//
// It only reads. Data that cannot be imported is listed with the reason. An agent may have
// written the files, so a bad file does not prevent the import of the others, and evidence in
// the files does not count: verification, attestations and reports must be given again.
package nubospilot

import (
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Folder is the name of nubos-pilot's directory in a project.
const Folder = ".nubos-pilot"

// Name is the critic of imported findings, and the plugin in their sources.
const Name = "nubos-pilot"

// Import is the content of a nubos-pilot directory. The caller owns it.
type Import struct {
	Settings Settings
	// Tasks are the readable checkpoints, ordered by id.
	Tasks []Task
	// Left lists the data that cannot be imported: settings, checkpoints, and files of the
	// directory.
	Left []Left
}

// Settings are the settings with a counterpart in Switchyard. A zero field was not set.
type Settings struct {
	// MaxRounds is loop.maxRounds, 1 to 100.
	MaxRounds int
	// VerifyRuns is loop.verify_runs, 1 to 10.
	VerifyRuns int
	// Researchers is swarm.research.k, 1 to 5.
	Researchers int
	// Architect and TestWriter are agents.architect and agents.test_writer, which enable
	// phases. They are nil if they were not set.
	Architect, TestWriter *bool
}

// Task is the checkpoint of one task.
type Task struct {
	ID string
	// Done and Stuck are the status. Reason says why the task is stuck, or is "".
	Done, Stuck bool
	Reason      string
	// Round is the current round, from 1.
	Round int
	// MaxRounds is the task's own cap, 1 to 100, or 0.
	MaxRounds int
	// Findings are the findings of the latest round that has any.
	Findings []finding.Finding
	// Violations are violations of the search-before-write rule that are still open.
	Violations []task.Violation
	// Forced is the number of overridden gates.
	Forced int
	// Digest is the digest of the file, "sha256:" and 64 hex digits.
	Digest string
}

// Left is data that cannot be imported.
type Left struct {
	// What names the data: the path of a key, a file, or a task.
	What string `json:"what"`
	// Why is the reason, with a workaround if there is one.
	Why string `json:"why"`
}
