package task

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The agents whose stamps the phases want (reference section 8).
const (
	AgentResearcher = "np-researcher"
	AgentDesigner   = "np-task-architect"
	AgentTester     = "np-test-writer"
	AgentExecutor   = "np-executor"
	AgentFixer      = "np-build-fixer"
	AgentCritic     = "np-critic"
)

// The bounds of a state: how many stamps, searches, violations, reports and test
// files it lists each, and how long a name in it may be, in bytes.
const (
	maxListed = 256
	maxName   = 1024
)

// Source says who vouches for a stamp or a search.
type Source string

// The sources of evidence.
const (
	// ByHand: a caller says so.
	ByHand Source = "hand"
	// ByHost: Switchyard ran the agent itself and saw it.
	ByHost Source = "host"
)

// Stamp is the evidence that an agent ran in a round, and what it was seen to do.
type Stamp struct {
	Round  int    `json:"round"`
	Agent  string `json:"agent"`
	Source Source `json:"source"`
	By     string `json:"by"`
	// Run identifies the run, where known: the same run counts once.
	Run string `json:"run,omitzero"`
	// Used says that a decision or a newer draft has used the stamp up. It is
	// kept until the round ends, so that its run cannot be stamped again.
	Used bool `json:"used,omitzero"`
	// Spawn is what the host saw of the process; nil for a stamp by hand.
	Spawn *Spawn `json:"spawn,omitzero"`
	// ToolUses counts the tools that it used, SearchCalls those of them that
	// search, and Credited those of these that evidence backs.
	ToolUses    int `json:"tool_uses"`
	SearchCalls int `json:"search_calls"`
	Credited    int `json:"credited_calls"`
	// SearchEvidence counts the searches on record for the agent in this round.
	SearchEvidence int `json:"search_evidence"`
	// Audited says that the agent must search (rule 9).
	Audited bool `json:"audited"`
	// Violation is what it did against rule 9, "" for nothing.
	Violation ViolationKind `json:"violation,omitzero"`
}

// Spawn is what the host saw of an agent that it ran.
type Spawn struct {
	PID     int    `json:"pid"`
	Session string `json:"session,omitzero"`
	// Trail is the digest of the run's trail record.
	Trail string `json:"trail,omitzero"`
}

// Search is the evidence that an agent searched.
type Search struct {
	Round int `json:"round"`
	// Agent is "" where the evidence names none.
	Agent  string `json:"agent,omitzero"`
	Query  string `json:"query"`
	Source Source `json:"source"`
	By     string `json:"by"`
}

// Verification is what is known of a draft's verification.
type Verification struct {
	// Claimed says that the caller gave the outcome; else the host ran it.
	Claimed bool   `json:"claimed,omitzero"`
	Command string `json:"command,omitzero"`
	// ExitCode is nil where nobody knows it.
	ExitCode *int `json:"exit_code,omitzero"`
	// Signal is the signal that ended the command, and End why the host did:
	// timed-out or output-limit. Both are "" where it ended by itself.
	Signal string `json:"signal,omitzero"`
	End    string `json:"end,omitzero"`
	// Runs counts how often the command ran.
	Runs int `json:"runs,omitzero"`
	// Output is the file that holds what it printed, OutputDigest its digest
	// and OutputBytes its size.
	Output       string `json:"output,omitzero"`
	OutputDigest string `json:"output_digest,omitzero"`
	OutputBytes  int64  `json:"output_bytes,omitzero"`
	// Tree is the digest of the working tree that was verified, "" where nobody
	// looked.
	Tree string `json:"tree,omitzero"`
}

// ViolationKind is how an agent broke rule 9.
type ViolationKind string

// The violations (reference section 6).
const (
	NoSearch         ViolationKind = "rule-9-no-search-tool-invoked"
	SearchUnverified ViolationKind = "rule-9-search-tool-unverified"
)

// Violation is one that no decision has routed yet.
type Violation struct {
	Round int           `json:"round"`
	Agent string        `json:"agent"`
	Kind  ViolationKind `json:"kind"`
}

// CountStamps counts the stamps of an agent in this round that are not used up.
func (s State) CountStamps(agent string) int {
	found := 0
	for _, stamp := range s.Stamps {
		if stamp.Agent == agent && !stamp.Used {
			found++
		}
	}
	return found
}

// DraftAgent is the agent whose draft this round is, "" where a person makes it.
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

// phaseAgent returns the agent whose stamp a phase needs, "" for none.
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

// CheckEvidence fails unless the agent of a phase has its stamps in this round.
func (s State) CheckEvidence(p Phase, required int) error {
	agent := s.phaseAgent(p)
	if agent == "" {
		return nil
	}
	if found := s.CountStamps(agent); found < required {
		round := max(s.Round, 1)
		return errs.New(errs.EvidenceMissing, "%s of round %d needs evidence that %s ran: %d of %d stamps are there", p, round, agent, found, required).
			With("phase", string(p)).With("agent", agent).With("round", round).With("required", required).With("found", found)
	}
	return nil
}

// checkAgent refuses what is no agent's name: up to 128 letters, digits,
// underscores and dashes.
func checkAgent(name string) error {
	ok := len(name) >= 1 && len(name) <= 128
	for i := 0; ok && i < len(name); i++ {
		ok = isWord(name[i])
	}
	if !ok {
		return errs.New(errs.AgentInvalid, "%q is no agent's name", name)
	}
	return nil
}
