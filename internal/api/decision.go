package api

import (
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/research"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Decision is where a round goes, and all that led there.
type Decision struct {
	// TaskID and NextRound are empty for a stateless route.
	TaskID    string `json:"task_id,omitzero"`
	Round     int    `json:"round"`
	NextRound int    `json:"next_round,omitzero"`
	MaxRounds int    `json:"max_rounds"`
	// NextAction is the destination that the policy chose.
	NextAction string `json:"next_action"`
	Stuck      bool   `json:"stuck"`
	Reason     string `json:"reason"`
	// NoProgress says that the task has findings, all of which its previous
	// review had, and that none of those is gone (ADR-0003).
	NoProgress bool `json:"no_progress"`
	// The counts compare the findings with the task's earlier reviews: seen for
	// the first time, seen in the previous review, back after being gone; and
	// gone since the previous one.
	NewCount      int `json:"new_count"`
	RepeatCount   int `json:"repeat_count"`
	ReopenedCount int `json:"reopened_count"`
	ResolvedCount int `json:"resolved_count"`
	// StalledRounds is how many reviews in a row made no progress.
	StalledRounds int `json:"stalled_rounds"`
	// Findings are merged, most important first.
	Findings []finding.Finding `json:"findings"`
	// StillOpen are the findings that the last review left open, if this round reviewed
	// nothing, as on a red verification; nil for none. They are not part of Findings,
	// and the policy does not see them.
	StillOpen *OpenReview `json:"still_open,omitzero"`
	// Skipped are the items that plugins left out, by reason.
	Skipped []Skipped `json:"skipped"`
	// Unmapped are the rules that no configuration gives a category.
	Unmapped []Unmapped `json:"unmapped"`
	Routing  Routing    `json:"routing"`
	// Input is all that the policy saw.
	Input   routing.Input    `json:"input"`
	Policy  routing.Identity `json:"policy"`
	Plugins []abi.Identity   `json:"plugins"`
	Reports []Report         `json:"reports"`
	// Verification is what is known of it; nil where there was none.
	Verification *Verification `json:"verification,omitzero"`
	// Questions are those to the user, where the task waits for one.
	Questions []task.Question `json:"questions,omitzero"`
	// Missing lists what the phase commit will want besides, if a review decided to
	// commit and leaves it to that phase; nil if the task is committed.
	Missing []string `json:"missing,omitzero"`
	// Force is set where somebody passed a gate by force.
	Force *task.Force `json:"force,omitzero"`
	// Spawns are the agents that were run for it, in the order of their ends.
	Spawns []SpawnSummary `json:"spawns,omitzero"`
	// EmptyDraft says that the critic was asked although the draft differs in nothing
	// from its base.
	EmptyDraft bool `json:"empty_draft,omitzero"`
	// WithoutCriteria says that a critic was run without being told what the task is.
	WithoutCriteria bool `json:"without_criteria,omitzero"`
	// Handoff is a file with what the executor is to do, nil for none, Research what
	// researchers found out for the next round, and ManualFallback what the caller is to
	// run. Paths are relative to the project's root.
	Handoff        *string         `json:"handoff"`
	Research       *Research       `json:"research,omitzero"`
	ManualFallback *ManualFallback `json:"hand_back,omitzero"`
	// Budget says which budget does not cover what would come next.
	Budget string `json:"budget,omitzero"`
	// Why explains a stateless decision, where the caller asks for it.
	Why *explain.Explanation `json:"why,omitzero"`
	// Event is where the ledger keeps the decision; nil for a stateless route.
	Event *EventRef `json:"event,omitzero"`
}

// OpenReview is what an earlier review left open.
type OpenReview struct {
	// Round is the round of the review, 0 if a person or an import left the findings.
	Round int `json:"round"`
	// Findings have no sources here: the event of their review has those.
	Findings []finding.Finding `json:"findings"`
}

// Routing says where the findings alone would go.
type Routing struct {
	// NextDestination is the strongest destination of any finding, whatever
	// the cap and verification say; without findings it is the next action.
	NextDestination string `json:"next_destination"`
	FindingCount    int    `json:"finding_count"`
	// Buckets lists the findings' fingerprints by destination.
	Buckets map[string][]string `json:"buckets"`
}

// Skipped is what a plugin left out of a report for one reason. A test report has
// an item for every test that passed, so they are counted.
type Skipped struct {
	Plugin string `json:"plugin"`
	Report string `json:"report"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Refs are JSON Pointers to the first of them, maxSkippedRefs at the most.
	Refs []string `json:"refs"`
}

// Unmapped is a rule whose findings have its plugin's default category.
type Unmapped struct {
	Plugin   string `json:"plugin"`
	Report   string `json:"report"`
	Rule     string `json:"rule"`
	Category string `json:"category"`
}

// Report is one piece of evidence that a decision rests on.
type Report struct {
	// Path is as the user wrote it; "-" is standard input.
	Path string `json:"path"`
	// Command is the one of switchyard.yaml that printed it, "" for none.
	Command string `json:"command,omitzero"`
	Digest  string `json:"digest"`
	Plugin  string `json:"plugin"`
	Critic  string `json:"critic"`
	// Findings and Skipped count what the plugin made of it, before merging.
	Findings int `json:"findings"`
	Skipped  int `json:"skipped"`
}

// EventRef is a place in a task's chain. Stored elsewhere, its hash proves later
// that the chain up to it is unchanged and complete.
type EventRef struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// Verification is what is known of a draft's verification.
type Verification struct {
	Outcome routing.Verify `json:"outcome"`
	task.Verification
	// Excerpt is the head and the tail of what the command printed.
	Excerpt string `json:"excerpt,omitzero"`
}

// Research is what researchers came to for the round that follows.
type Research struct {
	// Round is the one that it is for.
	Round int `json:"round"`
	// Path is the consensus as Markdown, and Data as JSON: both relative to the
	// project's root.
	Path string `json:"path"`
	Data string `json:"data"`
	// K researchers were asked, and Silent failed.
	K              int                `json:"k"`
	AgreementScore float64            `json:"agreement_score"`
	Silent         []research.Silence `json:"silent"`
}

// ManualFallback asks the caller to run an agent in some other way, and to give its
// report to the round.
type ManualFallback struct {
	Agent string `json:"agent"`
	// PromptPath is the whole prompt, and ReportPath where the agent is to write:
	// both relative to the project's root.
	PromptPath string `json:"prompt_path"`
	ReportPath string `json:"report_path"`
	// Failures say why nothing else helped: of adapters that could not be started,
	// then of attempts.
	Failures []string `json:"failures"`
}

// SpawnSummary is one attempt to run an agent, in short.
type SpawnSummary struct {
	Run     string `json:"run"`
	Agent   string `json:"agent"`
	Adapter string `json:"adapter"`
	Attempt int    `json:"attempt"`
	// Why says why it was made: first, retry:CLASS, fallback:CLASS or resume.
	Why     string          `json:"why"`
	Outcome outcome.Outcome `json:"outcome"`
	Reason  outcome.Reason  `json:"reason,omitzero"`
	Class   outcome.Class   `json:"class,omitzero"`
	// DurationMS is in milliseconds. What nobody knows is null.
	DurationMS       int64  `json:"duration_ms"`
	TokensIn         *int64 `json:"tokens_in"`
	TokensOut        *int64 `json:"tokens_out"`
	CostMicroDollars *int64 `json:"cost_microdollars"`
	// Resumed says that it ran for an earlier command, which was killed.
	Resumed bool `json:"resumed,omitzero"`
	// Changed lists what changed in the working tree while it ran.
	Changed []string `json:"changed,omitzero"`
	// Said is what is known of why it came to nothing: tools that it was denied, what
	// its answer lacks, and its own words.
	Said   []string `json:"said,omitzero"`
	Stderr string   `json:"stderr,omitzero"`
}

// ActionHandBack is the next action of a round whose agent the caller is to run
// , and ReasonHandBack why.
const (
	ActionHandBack = "spawn-agent-tool"
	ReasonHandBack = "spawn-failed"
)
