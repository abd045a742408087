package task

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// The agents that phases need attestations of.
const (
	AgentResearcher = "np-researcher"
	AgentDesigner   = "np-task-architect"
	AgentTester     = "np-test-writer"
	AgentExecutor   = "np-executor"
	AgentFixer      = "np-build-fixer"
	AgentCritic     = "np-critic"
)

// The limits of a state: the length of a list, and of a name in bytes.
const (
	maxListed = 256
	maxName   = 1024
)

// Source says where an attestation or a search comes from.
type Source string

// The sources of evidence.
const (
	// ByHand means that the caller reported it.
	ByHand Source = "hand"
	// ByHost means that Switchyard ran the agent itself.
	ByHost Source = "host"
)

// Attestation is the attestation that an agent ran in a round.
type Attestation struct {
	Round  int    `json:"round"`
	Agent  string `json:"agent"`
	Source Source `json:"source"`
	By     string `json:"by"`
	// Run is the id of the run, "" if unknown. A run counts once.
	Run string `json:"run,omitzero"`
	// Used is set once a decision or a newer draft has used the attestation. It stays
	// until the round ends, so that its run cannot be recorded again.
	Used bool `json:"used,omitzero"`
	// Spawn is the process that the host observed; nil for an attestation by hand.
	Spawn *Spawn `json:"spawn,omitzero"`
	// ToolUses counts the tool calls, SearchCalls the searches among them, and Credited
	// the searches with evidence.
	ToolUses    int `json:"tool_uses"`
	SearchCalls int `json:"search_calls"`
	Credited    int `json:"credited_calls"`
	// SearchEvidence counts the searches on record for the agent in this round.
	SearchEvidence int `json:"search_evidence"`
	// Audited is set if the agent must search first (the search-before-write rule).
	Audited bool `json:"audited"`
	// Violation is how it broke that rule, "" if it did not.
	Violation ViolationKind `json:"violation,omitzero"`
}

// Spawn identifies the process of an agent that the host ran.
type Spawn struct {
	PID     int    `json:"pid"`
	Session string `json:"session,omitzero"`
	// Trail is the digest of the run's trail record.
	Trail string `json:"trail,omitzero"`
}

// Search is the evidence that an agent searched.
type Search struct {
	Round int `json:"round"`
	// Agent is "" if unknown.
	Agent  string `json:"agent,omitzero"`
	Query  string `json:"query"`
	Source Source `json:"source"`
	By     string `json:"by"`
}

// Verification describes the verification of a draft.
type Verification struct {
	// Claimed is set if the caller gave the outcome; otherwise the host ran it.
	Claimed bool   `json:"claimed,omitzero"`
	Command string `json:"command,omitzero"`
	// ExitCode is nil if unknown.
	ExitCode *int `json:"exit_code,omitzero"`
	// Signal is the signal that ended the command, and End why the host ended it:
	// timed-out or output-limit. Both are "" if it ended by itself.
	Signal string `json:"signal,omitzero"`
	End    string `json:"end,omitzero"`
	// Runs counts the runs of the command.
	Runs int `json:"runs,omitzero"`
	// Output is the file of its output, with its digest and size.
	Output       string `json:"output,omitzero"`
	OutputDigest string `json:"output_digest,omitzero"`
	OutputBytes  int64  `json:"output_bytes,omitzero"`
	// Tree is the digest of the verified working tree, "" if unknown.
	Tree string `json:"tree,omitzero"`
}

// ViolationKind is how an agent broke the search-before-write rule.
type ViolationKind string

// The violations.
const (
	NoSearch         ViolationKind = "rule-9-no-search-tool-invoked"
	SearchUnverified ViolationKind = "rule-9-search-tool-unverified"
)

// Violation is a broken rule that no decision has routed yet.
type Violation struct {
	Round int           `json:"round"`
	Agent string        `json:"agent"`
	Kind  ViolationKind `json:"kind"`
}

// CountAttestations counts the unused attestations of an agent in this round.
func (s State) CountAttestations(agent string) int {
	found := 0
	for _, attestation := range s.Attestations {
		if attestation.Agent == agent && !attestation.Used {
			found++
		}
	}
	return found
}

// DraftAgent returns the agent that makes this round's draft, "" for a person.
func (s State) DraftAgent() string {
	switch {
	case s.Manual:
		return ""
	case max(s.Round, 1) <= max(s.StartedRound, 1):
		return AgentExecutor
	default:
		return AgentFixer
	}
}

// phaseAgent returns the agent that a phase needs attestations of, or "".
func (s State) phaseAgent(p Phase) string {
	switch p {
	case Research:
		return AgentResearcher
	case Design:
		return AgentDesigner
	case Tests:
		return AgentTester
	case Draft:
		return s.DraftAgent()
	case Review:
		return AgentCritic
	default:
		return ""
	}
}

// checkEvidence returns an error unless the agent of a phase has the required
// attestations.
func (s State) checkEvidence(p Phase, required int) error {
	agent := s.phaseAgent(p)
	if agent == "" {
		return nil
	}
	if found := s.CountAttestations(agent); found < required {
		round := max(s.Round, 1)
		return errs.New(errs.EvidenceMissing, "%s of round %d needs attestations of %s: %d of %d are recorded", p, round, agent, found, required).
			With("phase", string(p)).With("agent", agent).With("round", round).With("required", required).With("found", found)
	}
	return nil
}

var agentPattern = lazy.Regexp(`^[A-Za-z0-9_-]+$`)

// checkAgent returns an error unless name is valid for an agent: up to 128 letters,
// digits, underscores and dashes.
func checkAgent(name string) error {
	if len(name) > 128 || !agentPattern().MatchString(name) {
		return errs.New(errs.AgentInvalid, "%q is not an agent's name", name)
	}
	return nil
}
