package verbs

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// The next actions of nubos-pilot that are not destinations of a policy.
const (
	actionResearch = "spawn-researcher-swarm"
	actionDesign   = "spawn-architect"
	actionTests    = "spawn-test-writer"
	actionExecute  = "spawn-executor"
	actionFix      = "spawn-build-fixer"
	actionReview   = "spawn-critic-schwarm"
	actionCommit   = "commit-task"
	actionEscalate = "escalate-via-askuser"
)

// StepResult is the common part of every phase's output.
type StepResult struct {
	TaskID string `json:"task_id"`
	Phase  string `json:"phase"`
	// Round is the current round.
	Round      int    `json:"round"`
	NextAction string `json:"next_action"`
	// Forced is true if the phase's gate was forced.
	Forced bool `json:"forced"`
}

// The outputs of the phases, in order; post-critics prints a decision.
type (
	PreflightResult struct {
		StepResult
		CacheMiss
		Swarm Swarm `json:"swarm"`
	}
	PrepareResult struct {
		StepResult
		Researchers int      `json:"expected_researcher_count,omitzero"`
		Tests       []string `json:"tdd_tests"`
	}
	DraftResult struct {
		StepResult
		LastAction string `json:"last_action"`
		ExitCode   int    `json:"verify_exit_code"`
		Excerpt    string `json:"verify_output_excerpt"`
		Stuck      bool   `json:"stuck"`
		MaxRounds  int    `json:"max_rounds"`
		// Reason is the reason of the decision on a red draft.
		Reason string `json:"reason,omitzero"`
	}
	CommitResult struct {
		StepResult
		Status string `json:"status"`
		At     string `json:"committed_at"`
	}
	StuckResult struct {
		StepResult
		Status string `json:"status"`
		Stuck  bool   `json:"stuck"`
		Reason string `json:"stuck_reason"`
		At     string `json:"stuck_at"`
	}
)

// CacheMiss is the answer of nubos-pilot's knowledge store: always a miss, because Switchyard
// does not have a knowledge store.
type CacheMiss struct {
	Hit    *struct{} `json:"cache_hit"`
	Reason string    `json:"cache_miss_reason"`
	Bypass bool      `json:"bypass_swarm"`
}

// Swarm tells the caller how to start the researchers.
type Swarm struct {
	K int `json:"k"`
	// The thresholds of nubos-pilot's knowledge store are for scripts that show them.
	Threshold       float64      `json:"threshold"`
	MinOccurrence   int          `json:"min_occurrence"`
	MinConfidence   float64      `json:"min_confidence"`
	BypassThreshold float64      `json:"bypass_threshold"`
	Specs           []Researcher `json:"spawn_specs"`
	CacheMiss
}

// Researcher describes one researcher. All have the same input and differ only in method, because
// researchers of different topics could not agree.
type Researcher struct {
	Index     int             `json:"index"`
	SeedDelta int             `json:"seed_delta"`
	SeedNudge string          `json:"seed_nudge"`
	Input     ResearcherInput `json:"input"`
}

// ResearcherInput is the subject of the research.
type ResearcherInput struct {
	Query  string `json:"task_query"`
	TaskID string `json:"task_id"`
}

// Step is one call of loop-run-round. Its methods return the outputs of the phases.
type Step struct {
	TaskID string
	Phase  Phase
	// Force is set if the call asks to force the gate.
	Force *task.Force
}

// result returns the common part. round is the round of the gate that was passed. Forced is false
// if the gate was open, even if the call asked to force it.
func (c Step) result(s api.TaskStatus, round int, next string) StepResult {
	forced := c.Force != nil && s.Forced != nil && *s.Forced == task.Override{Round: round, Phase: c.Phase.Gate, Force: *c.Force}
	return StepResult{TaskID: c.TaskID, Phase: c.Phase.Name, Round: s.Round, NextAction: next, Forced: forced}
}

// Preflight returns the result of preflight.
func (c Step) Preflight(s api.TaskStatus, query string, researchers int) PreflightResult {
	nudges := []string{
		"Write nothing down from memory: a claim counts once you have read a source that makes it.",
		"Collect every way in which it could be done before you prefer one.",
		"Take the answer that everybody would give, and look for where it breaks.",
		"Hand in whatever you cannot check as an open question, and not as a fact.",
		"Say which way is ahead, and how it would most likely fail.",
	}
	miss := CacheMiss{Reason: "no-knowledge-store"}
	swarm := Swarm{K: researchers, Threshold: 0.2, MinOccurrence: 1, MinConfidence: 0.3, BypassThreshold: 0.5, CacheMiss: miss}
	for i := range researchers {
		swarm.Specs = append(swarm.Specs, Researcher{
			Index: i, SeedDelta: i, SeedNudge: nudges[i%len(nudges)], Input: ResearcherInput{Query: query, TaskID: c.TaskID},
		})
	}
	return PreflightResult{c.result(s, s.Round, actionResearch), miss, swarm}
}

// Prepare returns the result of a phase before the draft. optional lists the project's optional
// phases.
func (c Step) Prepare(s api.TaskStatus, optional []string, researchers int) PrepareResult {
	result := PrepareResult{StepResult: c.result(s, s.Round, afterPhase(c.Phase.Gate, optional, s.Drafter)), Tests: s.Tests}
	if c.Phase.Gate == task.Research {
		result.Researchers = researchers
	}
	return result
}

// afterPhase returns the action after a phase before the draft: the project's next optional
// phase, or the draft.
func afterPhase(phase task.Phase, optional []string, drafter string) string {
	for _, p := range optional {
		switch {
		case p == project.PhaseDesign && phase == task.Research:
			return actionDesign
		case p == project.PhaseTests && phase != task.Tests:
			return actionTests
		}
	}
	if drafter == task.AgentFixer {
		return actionFix
	}
	return actionExecute
}

// Draft returns the result of post-executor.
func (c Step) Draft(d api.DraftResult, exitCode int) DraftResult {
	result := DraftResult{
		StepResult: c.result(d.TaskStatus, d.Round, actionReview), LastAction: "verify-green",
		ExitCode: exitCode, Excerpt: d.Verification.Excerpt, MaxRounds: d.MaxRounds,
	}
	red := d.Decision
	if red == nil {
		return result
	}
	next := red.NextAction
	switch {
	case red.Stuck:
		next = actionEscalate
	case next == "executor":
		next = actionFix
	}
	result.StepResult = c.result(d.TaskStatus, red.Round, next)
	result.LastAction, result.Stuck, result.Reason = "verify-red", red.Stuck, red.Reason
	return result
}

// Commit returns the result of commit.
func (c Step) Commit(s api.TaskStatus) CommitResult {
	return CommitResult{c.result(s, s.Round, actionCommit), "pre-commit", s.UpdatedAt}
}

// Stop returns the result of the phase stuck, and of loop-stuck.
func (c Step) Stop(s api.TaskStatus) StuckResult {
	result := StuckResult{StepResult{c.TaskID, "stuck", s.Round, actionEscalate, false}, string(s.Status), true, "", s.UpdatedAt}
	if s.Stop != nil {
		result.Reason = s.Stop.Reason
	}
	return result
}

// ReviewResult is the output of post-critics: a decision with nubos-pilot's findings and
// routing.
type ReviewResult struct {
	api.Decision
	Phase    string    `json:"phase"`
	Findings []Finding `json:"findings"`
	Routing  Routing   `json:"routing"`
	Forced   bool      `json:"forced"`
}

// Finding is a finding with its text in the first report that has it.
type Finding struct {
	finding.Finding
	Raw jsontext.Value `json:"raw"`
}

// Routing is the destination by the findings alone. The buckets contain the findings.
type Routing struct {
	NextDestination string               `json:"next_destination"`
	Stuck           bool                 `json:"stuck"`
	FindingCount    int                  `json:"finding_count"`
	Buckets         map[string][]Finding `json:"buckets"`
}

// Review returns the result of post-critics.
func (c Step) Review(d api.Decision) ReviewResult {
	next := d.Routing.NextDestination
	result := ReviewResult{Decision: d, Phase: c.Phase.Name, Forced: d.Force != nil, Routing: Routing{
		next, next == "stuck", len(d.Findings),
		map[string][]Finding{"executor": nil, "researcher": nil, "askuser": nil, "plan-checker": nil, "stuck": nil},
	}}
	for _, f := range d.Findings {
		raw := Finding{Finding: f}
		if len(f.Sources) > 0 {
			raw.Raw = f.Sources[0].Raw
		}
		result.Findings = append(result.Findings, raw)
		result.Routing.Buckets[f.Route] = append(result.Routing.Buckets[f.Route], raw)
	}
	return result
}

// The results of loop-audit-tool-use: an attestation, all of them, or a search.
type (
	AuditResult struct {
		TaskID string `json:"task_id"`
		Attestation
	}
	AuditList struct {
		TaskID       string        `json:"task_id"`
		Attestations []Attestation `json:"tool_use_audit"`
	}
	SearchResult struct {
		TaskID string `json:"task_id"`
		Round  int    `json:"round"`
		Agent  string `json:"agent,omitzero"`
		Query  string `json:"query"`
		At     string `json:"recorded_at"`
	}
)

// Attestation is the record that an agent ran, with nubos-pilot's field names.
type Attestation struct {
	Agent          string `json:"agent"`
	Audited        bool   `json:"audited"`
	Round          int    `json:"round"`
	SearchCalls    int    `json:"search_calls"`
	Credited       int    `json:"credited_calls"`
	SearchEvidence int    `json:"search_evidence_count"`
	ToolUses       int    `json:"tool_use_count"`
	// Violation is nil if the agent followed the search-before-write rule.
	Violation *task.ViolationKind `json:"violation"`
	At        string              `json:"audited_at"`
	// Source is hand or host; By names the caller.
	Source task.Source `json:"source"`
	By     string      `json:"by"`
}

// NewAttestation converts an attestation that was recorded at a time.
func NewAttestation(s task.Attestation, at string) Attestation {
	a := Attestation{
		Agent: s.Agent, Audited: s.Audited, Round: s.Round, SearchCalls: s.SearchCalls, Credited: s.Credited,
		SearchEvidence: s.SearchEvidence, ToolUses: s.ToolUses, At: at, Source: s.Source, By: s.By,
	}
	if s.Violation != "" {
		a.Violation = &s.Violation
	}
	return a
}

// LastResult finds the last line of an output that is a final event of the claude CLI. It returns
// the line's offset, and its size in bytes, or 0 without such a line. It skips lines that are
// longer than limit.
func LastResult(output io.Reader, limit int) (at, size int64, err error) {
	lines := bufio.NewReaderSize(output, limit)
	partial := false // The line began in an earlier read.
	for offset := int64(0); ; {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if !partial && !long && isResult(line) {
			at, size = offset, int64(len(line))
		}
		offset += int64(len(line))
		switch partial = long; {
		case errors.Is(err, io.EOF):
			return at, size, nil
		case err != nil && !long:
			return 0, 0, err
		}
	}
}

// isResult distinguishes the claude CLI's final event from the final events of other CLIs, which
// may have the same type.
func isResult(line []byte) bool {
	if !bytes.Contains(line, []byte(`"is_error"`)) {
		return false // Not worth parsing.
	}
	var event struct {
		Type    string `json:"type"`
		IsError *bool  `json:"is_error"`
	}
	err := json.Unmarshal(line, &event, jsontext.AllowInvalidUTF8(true))
	return err == nil && event.Type == "result" && event.IsError != nil
}
