package api

import (
	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TaskStatus is the status of a task.
type TaskStatus struct {
	TaskID string `json:"task_id"`
	task.State
	// Drafter is the agent that must draft in this round, "" for a person. It is not
	// stored.
	Drafter string `json:"drafter,omitzero"`
	// Base is the id of the commit that the task's draft is compared with, "" for HEAD.
	Base string `json:"base,omitzero"`
	// Prompt describes the task in its author's words, "" if unknown.
	Prompt string `json:"prompt,omitzero"`
	// Event is the number of the task's latest event.
	Event int64 `json:"event"`
	// Policies are the policies that decided the task's rounds, in the order of their
	// first decision, at most MaxPolicyUses.
	Policies []PolicyUse `json:"policies,omitzero"`
	// DecidedAt is the time of the latest decision, "" before the first, and UpdatedAt
	// that of the latest event: RFC 3339 in UTC.
	DecidedAt string `json:"decided_at,omitzero"`
	UpdatedAt string `json:"updated_at"`
}

// PolicyUse says which rounds of a task a policy decided.
type PolicyUse struct {
	Policy routing.Identity `json:"policy"`
	// Decisions is their number; FirstRound and LastRound are the rounds of the first and
	// the latest.
	Decisions  int `json:"decisions"`
	FirstRound int `json:"first_round"`
	LastRound  int `json:"last_round"`
}

// HistoryEntry summarizes one decision.
type HistoryEntry struct {
	Round        int              `json:"round"`
	NextRound    int              `json:"next_round"`
	MaxRounds    int              `json:"max_rounds"`
	NextAction   string           `json:"next_action"`
	Reason       string           `json:"reason"`
	FindingCount int              `json:"finding_count"`
	Policy       routing.Identity `json:"policy"`
	At           string           `json:"at"`
	Event        EventRef         `json:"event"`
}

// OverrideEntry is a forced gate.
type OverrideEntry struct {
	task.Override
	At    string   `json:"at"`
	Event EventRef `json:"event"`
}

// LifecycleEntry is a manual action on a task: its work was started, stopped, resumed or
// committed.
type LifecycleEntry struct {
	// Kind is task.KindStarted, KindStopped, KindResumed or KindFinished.
	Kind task.Kind `json:"kind"`
	// Round is the task's round afterwards.
	Round int `json:"round"`
	// MaxRounds and HardCap are the caps that a start or a resumption set, 0 if an older
	// version recorded it.
	MaxRounds int `json:"max_rounds,omitzero"`
	HardCap   int `json:"hard_cap,omitzero"`
	// Mode is the mode of a resumption.
	Mode   task.Mode `json:"mode,omitzero"`
	Reason string    `json:"reason,omitzero"`
	By     string    `json:"by"`
	At     string    `json:"at"`
	Event  EventRef  `json:"event"`
}

// TaskDetail is the status of one task with its open findings.
type TaskDetail struct {
	TaskStatus
	Findings []finding.Finding `json:"findings"`
	// Deferred are the findings that the latest review deferred.
	Deferred []finding.Finding `json:"deferred,omitzero"`
	// Handoff is the file with the executor's instructions for this round, relative to the
	// project's root, or nil.
	Handoff *string `json:"handoff"`
	// Sessions says how often the Stop hook blocked sessions because of a decision. It is
	// about the latest such decision, and nil if there is no such decision.
	Sessions *SessionBlock `json:"sessions,omitzero"`
}

// TaskResult is the result of a command on a task.
type TaskResult struct {
	TaskStatus
	// Recorded is the recorded event, or nil if the task did not change.
	Recorded *EventRef `json:"recorded"`
}

// DraftResult is the result of a draft's verification.
type DraftResult struct {
	TaskResult
	// Verification is the draft's verification with its outcome.
	Verification Verification `json:"verification"`
	// Decision is the decision on a red draft; nil for a green one, which waits for its
	// review.
	Decision *Decision `json:"decision,omitzero"`
}

// AttestationResult is the result of an attestation.
type AttestationResult struct {
	TaskResult
	Attestation task.Attestation `json:"stamp"`
}

// AttestationEntry is an attestation with its time.
type AttestationEntry struct {
	task.Attestation
	At    string   `json:"at"`
	Event EventRef `json:"event"`
}

// ImportResult is the result of importing another tool's tasks.
type ImportResult struct {
	// Tasks are the imported tasks with their current status.
	Tasks []TaskStatus `json:"tasks"`
	// Left are the tasks that were not imported, with the reason.
	Left []nubospilot.Left `json:"left"`
}

// Summary aggregates all tasks of a project, including committed ones. Its JSON is the
// output of the verb loop-metrics.
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

// UnreadableTask is a task that cannot be read, because its record was changed.
type UnreadableTask struct {
	TaskID  string    `json:"path"`
	Code    errs.Code `json:"reason"`
	Message string    `json:"message"`
}
