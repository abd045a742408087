// Package nubospilot reads nubos-pilot's data in a project: its settings and the
// checkpoints of unfinished tasks, so that a project can migrate.
//
// It only reads, and returns plain values; the caller decides how to use them. Everything
// that cannot be imported is listed with the reason. An agent may have written the files:
// no file can make another one unreadable, and no evidence in them counts. Verification,
// attestations and reports must be given again.
package nubospilot

// Folder is the name of nubos-pilot's folder in a project.
const Folder = ".nubos-pilot"

// Import is the content of a nubos-pilot folder. The caller owns it.
type Import struct {
	Settings Settings
	// Tasks are the readable checkpoints, ordered by id.
	Tasks []Task
	// Left lists what cannot be imported: settings, then checkpoints, then files of the
	// folder.
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
	// Architect and TestWriter are agents.architect and agents.test_writer: whether these
	// phases take place; nil if not set.
	Architect, TestWriter *bool
}

// Task is the checkpoint of one task.
type Task struct {
	ID string
	// Status is one of in-progress, verifying, pre-commit, done and stuck.
	Status string
	// Round is the current round, from 1.
	Round int
	// Phase is the last finished phase: preflight, post-researcher, post-architect,
	// post-test-writer, post-executor, post-critics, commit or stuck; "" before the
	// first.
	Phase string
	// MaxRounds is the task's own cap, 1 to 100, or 0.
	MaxRounds int
	// Findings has those of all rounds, the oldest first.
	Findings []Finding
	// Violations has the violations of the search-before-write rule that no round has
	// routed, or whose round then ended in stuck or in a question.
	Violations []Violation
	// Forced names the overridden gates, such as commit-phase.
	Forced []string
	// StuckReason is why the task is stuck, "" if unknown.
	StuckReason string
	// Digest is the digest of the file, "sha256:" and 64 hex digits.
	Digest string
}

// Finding is a critic's finding, with the texts of the checkpoint.
type Finding struct {
	// Round is the round of the report, from 1.
	Round    int
	Category string
	// Severity is fail, risk or nit.
	Severity string
	// File is "" and Line 0 if the finding has none.
	File        string
	Line        int
	Remediation string
}

// Violation is a violation of the search-before-write rule.
type Violation struct {
	Agent string
	// Round is the round of the violation, from 1.
	Round int
	// Kind is the kind of violation, such as rule-9-no-search-tool-invoked.
	Kind string
}

// Left is something that cannot be imported.
type Left struct {
	// What names it: the path of a key, a file, or a task.
	What string `json:"what"`
	// Why is the reason, with a workaround if there is one.
	Why string `json:"why"`
}
