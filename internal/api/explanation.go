package api

import (
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Explanation shows why a round was decided as it was.
type Explanation struct {
	Task TaskStatus `json:"task"`
	// DecidedAt is the time of the decision, RFC 3339 in UTC, and By the author of the
	// command.
	DecidedAt string `json:"decided_at,omitzero"`
	By        string `json:"by,omitzero"`
	// Decision is nil if no round was asked for and none is decided yet.
	Decision *Decision `json:"decision"`
	// Why names the policy rules that made the decision and the smallest change that would
	// alter it; nil if the policy is no longer available.
	Why *explain.Explanation `json:"why"`
	// Answers are the answers to the decision's questions, in the order of recording.
	Answers []AnswerEntry `json:"answers,omitzero"`
	// Spawns are the latest agent runs since the task's latest decision, or since its
	// beginning if none is decided yet, in the order in which they ended. It is empty if
	// an older round was asked for.
	Spawns []SpawnSummary `json:"spawns"`
	// History lists the task's latest decisions, oldest first.
	History []HistoryEntry `json:"history"`
	// Lifecycle lists manual actions on the task, oldest first.
	Lifecycle []LifecycleEntry `json:"turns"`
	// Overrides lists the forced gates, oldest first.
	Overrides []OverrideEntry `json:"overrides"`
}

// AnswerEntry is an answer with its time.
type AnswerEntry struct {
	task.Answer
	At string `json:"at"`
}
