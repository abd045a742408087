package api

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/agent/research"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// RoundResult is the result of a round. It always has the fields of a decision.
type RoundResult struct {
	// Decision is the round's decision. If the caller must run an agent, or no budget covers
	// the next step, it says so, and no policy has decided.
	Decision
	// ManualFallback is set if the caller must run an agent.
	ManualFallback *ManualFallback `json:"hand_back,omitzero"`
}

// Progress compares the findings of a review with the task's earlier reviews.
type Progress struct {
	// NoProgress reports whether the task has findings, and they are the same as in its
	// previous review (ADR-0003).
	NoProgress bool `json:"no_progress"`
	// The counts are of findings that are new, that the previous review had too, that came
	// back after being gone, and that are gone since the previous review.
	NewCount      int `json:"new_count"`
	RepeatCount   int `json:"repeat_count"`
	ReopenedCount int `json:"reopened_count"`
	ResolvedCount int `json:"resolved_count"`
	// StalledRounds is the number of consecutive reviews without progress.
	StalledRounds int `json:"stalled_rounds"`
}

// ProgressOf returns the progress in a policy's input.
func ProgressOf(in routing.Input) Progress {
	return Progress{in.NoProgress, in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount, in.StalledRounds}
}

// Decision is the decision of a round with everything that led to it.
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
	Progress
	// Findings are merged, most important first.
	Findings []finding.Finding `json:"findings"`
	// InducedCount counts the findings in lines that were changed since the task's previous
	// review. It is nil if that is not known.
	InducedCount *int `json:"induced_count,omitzero"`
	// Bar is the severity from which findings are open: PolicyBar, which the policy chose for
	// this review, or the bar of an earlier review if that was higher. Both are "" if the
	// policy has no bar.
	Bar       routing.Bar `json:"bar,omitzero"`
	PolicyBar routing.Bar `json:"policy_bar,omitzero"`
	// BarSince is the round since which the task has this bar, 0 if it is all.
	BarSince int `json:"bar_since,omitzero"`
	// Deferred are the findings below the bar, in the form of Findings; nil if the policy
	// has no bar.
	Deferred []finding.Finding `json:"deferred,omitzero"`
	// StillOpen are the findings that the last review left open, if this round had no review,
	// such as after a red verification. They are not part of Findings, and the policy does
	// not see them.
	StillOpen *OpenReview `json:"still_open,omitzero"`
	// Previous has the status of each finding of the task's previous review. The policy does
	// not see it.
	Previous []PreviousFinding `json:"previous,omitzero"`
	// Skipped are the items that plugins skipped, by reason.
	Skipped []Skipped `json:"skipped"`
	// Unmapped are the rules without a configured category.
	Unmapped []Unmapped `json:"unmapped"`
	Routing  Routing    `json:"routing"`
	// Input is the policy's whole input.
	Input routing.Input `json:"input"`
	// BarInput is the whole input of the policy's bar, or nil if the policy has no bar.
	BarInput *routing.Input   `json:"bar_input,omitzero"`
	Policy   routing.Identity `json:"policy"`
	Plugins  []abi.Identity   `json:"plugins"`
	Reports  []Report         `json:"reports"`
	// Confinement is the lowest level at which a report was made, or "" if no process that
	// we started made one.
	Confinement confinement.Level `json:"confinement,omitzero"`
	// Verification is the draft's verification, or nil.
	Verification *Verification `json:"verification,omitzero"`
	// Questions are the questions for the user, if the task waits for answers.
	Questions []task.Question `json:"questions,omitzero"`
	// Missing lists the evidence that the commit phase still requires, if a review decided to
	// commit and leaves the commit to that phase; nil if the task is committed.
	Missing []string `json:"missing,omitzero"`
	// Force is set if a gate was passed by force.
	Force *task.Force `json:"force,omitzero"`
	// Spawns are the agent runs of the round, in the order in which they ended.
	Spawns []SpawnSummary `json:"spawns,omitzero"`
	// EmptyDraft reports whether the critic reviewed a draft that equals its base.
	EmptyDraft bool `json:"empty_draft,omitzero"`
	// WithoutCriteria reports whether the critic ran without a description of the task.
	WithoutCriteria bool `json:"without_criteria,omitzero"`
	// Handoff is the file with the executor's instructions, relative to the project's root,
	// or nil. Research has the researchers' results for the next round.
	Handoff  *string   `json:"handoff"`
	Research *Research `json:"research,omitzero"`
	// Budget says which budget does not cover the next step, such as the researchers that
	// the decision asks for. It is "" if the budgets suffice.
	Budget string `json:"budget,omitzero"`
	// Driven is set if the task has its own branch, so that only run continues it.
	Driven bool `json:"-"`
	// Why explains a stateless decision if the caller asked for it.
	Why *explain.Explanation `json:"why,omitzero"`
	// Event is the decision's event in the ledger, nil for a stateless route.
	Event *EventRef `json:"event,omitzero"`
}

// Churn returns the number of consecutive reviews in which fixes caused all failures, if the
// policy decided because of that, and otherwise 0.
func (d Decision) Churn() int {
	if d.Reason != task.ReasonChurn || d.Input.Facts == nil {
		return 0
	}
	return d.Input.InducedRounds
}

// OpenReview lists the findings that an earlier review left open.
type OpenReview struct {
	// Round is the round of the review, 0 if a person or an import left the findings.
	Round int `json:"round"`
	// Findings have no sources here; the event of their review has them.
	Findings []finding.Finding `json:"findings"`
}

// FindingList lists the open or the deferred findings of a task.
type FindingList struct {
	TaskID string `json:"task_id"`
	// Round is the round of the review. It is 0 without a review, and if a person or an
	// import left the findings.
	Round int `json:"round"`
	// Bar is the bar of the review, or "" if its policy has no bar.
	Bar routing.Bar `json:"bar,omitzero"`
	// Deferred reports whether the findings are deferred.
	Deferred bool            `json:"deferred"`
	Findings []ListedFinding `json:"findings"`
}

// ListedFinding is a finding with the round of the latest review that has it.
type ListedFinding struct {
	Round int `json:"round"`
	finding.Finding
}

// PreviousFinding is a finding of the previous review.
type PreviousFinding struct {
	Fingerprint string  `json:"fingerprint"`
	Category    string  `json:"category"`
	File        *string `json:"file"`
	Line        *int    `json:"line"`
	// Status is open if the finding is reported again or a report states that it is open;
	// fixed, withdrawn or induced if a report states that; gone if everyone who reported it
	// reports again without it, in formats that have no statements; otherwise unverified.
	Status finding.PreviousStatus `json:"status"`
}

// Routing summarizes the destinations of the findings alone.
type Routing struct {
	// NextDestination is the strongest destination of any finding, regardless of the cap
	// and of verification; without findings it is the next action.
	NextDestination string `json:"next_destination"`
	FindingCount    int    `json:"finding_count"`
	// Buckets lists the findings' fingerprints by destination.
	Buckets map[string][]string `json:"buckets"`
}

// Skipped counts the items of a report that a plugin skipped for one reason. A test report
// has one for each test that passed.
type Skipped struct {
	Plugin string `json:"plugin"`
	Report string `json:"report"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Refs are JSON Pointers to the first items, at most 20.
	Refs []string `json:"refs"`
}

// Unmapped is a rule without a configured category. Its findings have the plugin's default.
type Unmapped struct {
	Plugin   string `json:"plugin"`
	Report   string `json:"report"`
	Rule     string `json:"rule"`
	Category string `json:"category"`
}

// Report is one report that a decision is based on.
type Report struct {
	// Path is as the user wrote it; "-" is standard input.
	Path string `json:"path"`
	// Command is the command in switchyard.yaml that printed it, or "".
	Command string `json:"command,omitzero"`
	// Run is the run of the agent that wrote it, or "".
	Run    string `json:"run,omitzero"`
	Digest string `json:"digest"`
	Plugin string `json:"plugin"`
	Critic string `json:"critic"`
	// Confinement is the level at which it was made, or "" if that is unknown, which counts
	// as confinement.None.
	Confinement confinement.Level `json:"confinement,omitzero"`
	// Findings and Skipped are the plugin's counts before merging.
	Findings int `json:"findings"`
	Skipped  int `json:"skipped"`
}

// LowestConfinement returns the lowest level at which one of the reports was made, or "" if
// all levels are unknown.
func LowestConfinement(reports []Report) confinement.Level {
	levels, known := make([]confinement.Level, len(reports)), false
	for i, r := range reports {
		levels[i], known = cmp.Or(r.Confinement, confinement.None), known || r.Confinement != ""
	}
	if !known {
		return ""
	}
	return confinement.Lowest(levels...)
}

// EventRef identifies an event in a task's chain. A copy of it outside the ledger proves
// later that the chain up to the event is unchanged and complete.
type EventRef struct {
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// Verification is the verification of a draft.
type Verification struct {
	Outcome routing.Verify `json:"outcome"`
	task.Verification
	// Excerpt is the beginning and the end of the command's output.
	Excerpt string `json:"excerpt,omitzero"`
}

// Research is the result of the researchers for the next round.
type Research struct {
	// Round is the round that the research is for.
	Round int `json:"round"`
	// Path and Data are the consensus as Markdown and as JSON, relative to the project's
	// root.
	Path string `json:"path"`
	Data string `json:"data"`
	// K is the number of researchers. Silent lists the ones that failed.
	K              int                `json:"k"`
	AgreementScore float64            `json:"agreement_score"`
	Silent         []research.Silence `json:"silent"`
}

// ManualFallback asks the caller to run an agent and to pass its report to the round.
type ManualFallback struct {
	Agent string `json:"agent"`
	// PromptPath is the file with the whole prompt, and ReportPath the file that the agent
	// must write; both are relative to the project's root.
	PromptPath string `json:"prompt_path"`
	ReportPath string `json:"report_path"`
	// Failures say why the adapters failed: first the adapters that could not be started,
	// then the attempts.
	Failures []string `json:"failures"`
}

// SpawnSummary summarizes one attempt to run an agent.
type SpawnSummary struct {
	Run     string `json:"run"`
	Agent   string `json:"agent"`
	Adapter string `json:"adapter"`
	Attempt int    `json:"attempt"`
	// Why is the reason for the attempt: first, retry:CLASS, fallback:CLASS or resume.
	Why     string          `json:"why"`
	Outcome outcome.Outcome `json:"outcome"`
	Reason  outcome.Reason  `json:"reason,omitzero"`
	Class   outcome.Class   `json:"class,omitzero"`
	// DurationMS is in milliseconds. Unknown values are null.
	DurationMS       int64  `json:"duration_ms"`
	TokensIn         *int64 `json:"tokens_in"`
	TokensOut        *int64 `json:"tokens_out"`
	CostMicroDollars *int64 `json:"cost_microdollars"`
	// Resumed reports whether the attempt belongs to an earlier command that was killed.
	Resumed bool `json:"resumed,omitzero"`
	// Confinement is the level at which it ran, or "" if it was not confined. Refused lists
	// at most 20 hosts that the proxy refused.
	Confinement confinement.Level `json:"confinement,omitzero"`
	Refused     []string          `json:"refused,omitzero"`
	// Changed lists the changes of the working tree during the attempt.
	Changed []string `json:"changed,omitzero"`
	// Said explains a failed attempt: denied tools, missing parts of the answer, and the
	// agent's own message.
	Said   []string `json:"said,omitzero"`
	Stderr string   `json:"stderr,omitzero"`
}

// SummarizeSpawn summarizes an attempt that has ended.
func SummarizeSpawn(r outcome.Record) SpawnSummary {
	s := SpawnSummary{
		Run: r.RunID, Agent: r.Agent, Adapter: r.Adapter, Attempt: r.Attempt, Why: r.Why, Outcome: r.Outcome, Reason: r.Reason, Class: r.Class,
		DurationMS: r.DurationMS, TokensIn: r.TokensIn, TokensOut: r.TokensOut, CostMicroDollars: r.CostMicroDollars,
		Confinement: r.Confinement, Refused: r.Refused, Changed: r.Changed, Stderr: r.StderrExcerpt,
	}
	if words := r.Said(); len(words) > 0 {
		s.Said = words
	}
	return s
}

// SpawnResult is the result of a spawn outside any task.
type SpawnResult struct {
	outcome.Record
	// OutputPath is as the caller gave it, OutputResolved is absolute, and TrailPath is
	// the run log.
	OutputPath     string `json:"output_path"`
	OutputResolved string `json:"output_path_resolved"`
	TrailPath      string `json:"spawn_trail_path"`
	OutputBytes    int64  `json:"output_bytes"`
	// Attempts are all attempts made.
	Attempts []SpawnSummary `json:"attempts"`
}

// ActionManualFallback is the next action of a round if the caller must run the agent, and
// ReasonManualFallback is its reason. ActionStuck is the destination that every policy
// declares for findings that cannot be routed.
const (
	ActionManualFallback = "spawn-agent-tool"
	ReasonManualFallback = "spawn-failed"
	ActionStuck          = "stuck"
)

// Explanation shows why a round was decided as it was.
type Explanation struct {
	Task TaskStatus `json:"task"`
	// Commit is the evidence for the requested commit, or nil.
	Commit *CommitEvidence `json:"commit,omitzero"`
	// DecidedAt is the time of the decision, RFC 3339 in UTC, and By the author of the
	// command.
	DecidedAt string `json:"decided_at,omitzero"`
	By        string `json:"by,omitzero"`
	// Decision is nil if the caller named no round and no round is decided yet.
	Decision *Decision `json:"decision"`
	// Why names the policy rules that made the decision and the smallest change that would
	// alter it; nil if the policy is no longer available.
	Why *explain.Explanation `json:"why"`
	// Answers are the answers to the decision's questions, in the order of recording.
	Answers []AnswerEntry `json:"answers,omitzero"`
	// Spawns are the latest agent runs since the task's latest decision, or since its start
	// if no round is decided yet, in the order in which they ended. It is empty if the
	// caller named an older round.
	Spawns []SpawnSummary `json:"spawns"`
	// Transcripts are the latest agent runs of the whole task that have a transcript which
	// was not removed, oldest first.
	Transcripts []TranscriptEntry `json:"transcripts,omitzero"`
	// History lists the task's latest decisions, oldest first.
	History []HistoryEntry `json:"history"`
	// Lifecycle lists manual actions on the task, oldest first.
	Lifecycle []LifecycleEntry `json:"turns"`
	// Overrides lists the forced gates, oldest first.
	Overrides []OverrideEntry `json:"overrides"`
	// Sessions is TaskDetail.Sessions.
	Sessions *SessionBlock `json:"sessions,omitzero"`
}

// TranscriptEntry is an agent run that has a transcript.
type TranscriptEntry struct {
	Run     string          `json:"run"`
	Role    task.Role       `json:"role"`
	Agent   string          `json:"agent"`
	Adapter string          `json:"adapter"`
	Round   int             `json:"round"`
	Outcome outcome.Outcome `json:"outcome"`
	// EndedAt is RFC 3339 in UTC.
	EndedAt string `json:"ended_at"`
	// Digest is the digest of the transcript, which may have been removed since.
	Digest string `json:"digest"`
}

// TranscriptCheck compares the transcripts with the digests in the ledger.
type TranscriptCheck struct {
	// Sound counts the transcripts that match their digests.
	Sound int64 `json:"sound"`
	// Gone counts the removed transcripts, since old ones are removed. GoneRuns are the
	// first 1,000.
	Gone     int64           `json:"gone"`
	GoneRuns []TranscriptRef `json:"gone_runs,omitzero"`
	// Altered are the transcripts that do not match.
	Altered []TranscriptRef `json:"altered,omitzero"`
}

// TranscriptRef is a transcript that the ledger names.
type TranscriptRef struct {
	// Task is the chain of the run.
	Task   string `json:"task"`
	Run    string `json:"run"`
	Digest string `json:"digest"`
}

// AnswerEntry is an answer with its time.
type AnswerEntry struct {
	task.Answer
	At string `json:"at"`
}
