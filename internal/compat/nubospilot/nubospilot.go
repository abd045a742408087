// Package nubospilot reads what nubos-pilot keeps in a project: its settings and the
// checkpoints of the tasks in flight, so that a project can move over.
//
// It only reads, and it returns plain values: what becomes of them is the
// caller's decision. Whatever cannot be taken over is listed with the reason, so
// that nothing gets lost in silence. The files may have been written by an agent;
// none of them can make the others unreadable, and no evidence in them counts:
// verification, stamps and reports are to be given again.
package nubospilot

import (
	"time"
)

// Folder is the name of nubos-pilot's folder in a project.
const Folder = ".nubos-pilot"

// Import is what a folder of nubos-pilot holds. It belongs to the caller.
type Import struct {
	Settings Settings
	// Tasks are the checkpoints that could be read, ordered by their id.
	Tasks []Task
	// Left is what cannot be taken over: first of the settings, then of the
	// checkpoints, then of the folder.
	Left []Left
}

// Settings are those that have a counterpart. A zero field was not set.
type Settings struct {
	// MaxRounds is loop.maxRounds, 1 to 100.
	MaxRounds int
	// VerifyRuns is loop.verify_runs, 1 to 10.
	VerifyRuns int
	// Researchers is swarm.research.k, 1 to 5.
	Researchers int
	// Architect and TestWriter are agents.architect and agents.test_writer:
	// whether these phases take place. nil was not set.
	Architect, TestWriter *bool
	// Headless is spawn.headless.
	Headless Headless
}

// Headless says which agents run as processes of their own. Until a
// configuration has keys for it, it is among what is left, too.
type Headless struct {
	// Enabled and FallbackOnError are nil where they were not set.
	Enabled, FallbackOnError *bool
	// Agents are names of letters, digits, _ and -; nil was not set.
	Agents []string
	// Timeout is that of one agent, 0 was not set.
	Timeout time.Duration
}

// Task is the checkpoint of one task.
type Task struct {
	ID string
	// Status is one of in-progress, verifying, pre-commit, done and stuck.
	Status string
	// Round is the round that the task is in, from 1.
	Round int
	// Phase is the last phase that was finished, "" before the first:
	// preflight, post-researcher, post-architect, post-test-writer,
	// post-executor, post-critics, commit or stuck.
	Phase string
	// MaxRounds is the task's own cap, 1 to 100, or 0.
	MaxRounds int
	// Findings are those of all rounds, the oldest first.
	Findings []Finding
	// Violations are those of rule 9 that no round has routed, or that were
	// routed in a round which then ended in stuck or in a question.
	Violations []Violation
	// Forced names the gates that were overridden, such as commit-phase.
	Forced []string
	// StuckReason is why the task is stuck, "" where nobody said.
	StuckReason string
	// StartedAt and UpdatedAt are zero where the checkpoint has no such time.
	StartedAt, UpdatedAt time.Time
	// Digest is that of the file, "sha256:" and 64 hex digits.
	Digest string
}

// Finding is what a critic found. Its texts are those of the checkpoint.
type Finding struct {
	// Round is the one it was reported in, from 1.
	Round    int
	Category string
	// Severity is fail, risk or nit.
	Severity string
	// File is "" where none was named, and Line 0.
	File        string
	Line        int
	Remediation string
}

// Violation is one of rule 9: an agent that did not search.
type Violation struct {
	Agent string
	// Round is the one it happened in, from 1.
	Round int
	// Kind is what was violated, such as rule-9-no-search-tool-invoked.
	Kind string
}

// Left is something that cannot be taken over.
type Left struct {
	// What names it: a key by its path, a file, a task.
	What string `json:"what"`
	// Why says why, and where it helps what to do instead.
	Why string `json:"why"`
}
