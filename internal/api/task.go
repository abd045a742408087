package api

import (
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TaskStatus is where a task stands.
type TaskStatus struct {
	TaskID string `json:"task_id"`
	task.State
	// Drafter is the agent whose draft this round wants, "" where a person makes
	// it. It is no part of what is kept.
	Drafter string `json:"drafter,omitzero"`
	// Base is the id of the commit that the task's draft is compared with, "" for HEAD.
	Base string `json:"base,omitzero"`
	// Prompt is what the task is, in its author's words, "" if that is not known.
	Prompt string `json:"prompt,omitzero"`
	// Event is the number of the task's newest event.
	Event int64 `json:"event"`
	// Policies are those that decided the task's rounds, in the order of their first
	// decision; of very many the newest.
	Policies []PolicyUse `json:"policies,omitzero"`
	// DecidedAt is the time of the newest decision, "" before the first, and
	// UpdatedAt that of the newest event: RFC 3339 in UTC.
	DecidedAt string `json:"decided_at,omitzero"`
	UpdatedAt string `json:"updated_at"`
}

// PolicyUse says which rounds of a task a policy decided.
type PolicyUse struct {
	Policy routing.Identity `json:"policy"`
	// Decisions counts them; FirstRound and LastRound are those of the first and of
	// the newest.
	Decisions  int `json:"decisions"`
	FirstRound int `json:"first_round"`
	LastRound  int `json:"last_round"`
}

// HistoryEntry is one decision in short.
type HistoryEntry struct {
	Round        int    `json:"round"`
	NextRound    int    `json:"next_round"`
	MaxRounds    int    `json:"max_rounds"`
	NextAction   string `json:"next_action"`
	Reason       string `json:"reason"`
	FindingCount int    `json:"finding_count"`
	// Policy is the one that decided.
	Policy routing.Identity `json:"policy"`
	At     string           `json:"at"`
	Event  EventRef         `json:"event"`
}

// OverrideEntry is a gate that somebody forced.
type OverrideEntry struct {
	task.Override
	At    string   `json:"at"`
	Event EventRef `json:"event"`
}

// LifecycleEntry is what a person made of a task beside its decisions: that the work
// began, was put aside, went on or was committed.
type LifecycleEntry struct {
	// Kind is task.KindStarted, KindStopped, KindResumed or KindFinished.
	Kind task.Kind `json:"kind"`
	// Round is the one that the task was in afterwards.
	Round int `json:"round"`
	// Mode is how a stuck task went on.
	Mode   task.Mode `json:"mode,omitzero"`
	Reason string    `json:"reason,omitzero"`
	By     string    `json:"by"`
	At     string    `json:"at"`
	Event  EventRef  `json:"event"`
}

// TaskDetail is where one task stands, with the findings that are open.
type TaskDetail struct {
	TaskStatus
	Findings []finding.Finding `json:"findings"`
	// Handoff is the file with what the executor is to do in this round, relative to
	// the project's root; nil if the round has none.
	Handoff *string `json:"handoff"`
}

// TaskResult is what a command left of a task.
type TaskResult struct {
	TaskStatus
	// Recorded is the event, or nil where there was nothing to do.
	Recorded *EventRef `json:"recorded"`
}

// DraftResult is what became of a draft.
type DraftResult struct {
	TaskResult
	// Verification says how it was verified, and how that ended.
	Verification Verification `json:"verification"`
	// Decision is where a red draft goes; nil for a green one, which waits for
	// its review.
	Decision *Decision `json:"decision,omitzero"`
}

// StampResult is a stamp in its place.
type StampResult struct {
	TaskResult
	Stamp task.Stamp `json:"stamp"`
}

// StampEntry is a stamp with its time.
type StampEntry struct {
	task.Stamp
	At    string   `json:"at"`
	Event EventRef `json:"event"`
}

// ImportResult is what became of another tool's tasks.
type ImportResult struct {
	// Tasks are those that were taken over, and where they stand now.
	Tasks []TaskStatus `json:"tasks"`
	// Left is what was not, and why.
	Left []nubospilot.Left `json:"left"`
}
