package api

import (
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Explanation is why a round went where it went.
type Explanation struct {
	Task TaskStatus `json:"task"`
	// DecidedAt is when the decision was made, RFC 3339 in UTC, and By who gave
	// the command.
	DecidedAt string `json:"decided_at,omitzero"`
	By        string `json:"by,omitzero"`
	// Decision is nil where nobody asked for a round, and none is decided yet.
	Decision *Decision `json:"decision"`
	// Why says what in the policy made the decision, and the smallest change that
	// would have led elsewhere; nil where the policy is not to be had any more.
	Why *explain.Explanation `json:"why"`
	// Answers are those to the decision's questions, in the order of their
	// coming.
	Answers []AnswerEntry `json:"answers,omitzero"`
	// Spawns are the agents' runs since the task's newest decision, or since its
	// beginning if none is decided yet, in the order of their ends: the newest of
	// many. It is empty if an older round was asked for.
	Spawns []SpawnSummary `json:"spawns"`
	// History lists the decisions of the task, oldest first, without the oldest
	// of very many.
	History []HistoryEntry `json:"history"`
	// Lifecycle lists what people made of the task beside its decisions, oldest first.
	Lifecycle []LifecycleEntry `json:"turns"`
	// Overrides lists the gates that somebody forced, oldest first.
	Overrides []OverrideEntry `json:"overrides"`
}

// AnswerEntry is an answer with its time.
type AnswerEntry struct {
	task.Answer
	At string `json:"at"`
}
