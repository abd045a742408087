package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// AttestAgent records that an agent ran in the task's round. It checks the
// search-before-write rule: an audited agent must have used a search tool.
type AttestAgent struct {
	// Round is the round that the agent ran in, 0 for the current one.
	Round  int
	Agent  string
	Source Source
	By     string
	// Run is the id of the run, "" if unknown. A run is recorded once; Known is set if an
	// earlier round has recorded it.
	Run   string
	Known bool
	Spawn *Spawn
	// Tools are the names of the used tools, in order.
	Tools []string
	// Audited lists the agents that must search, and SearchTools the search tools.
	Audited, SearchTools []string
}

func (c AttestAgent) decide(s State) (Event, error) {
	if err := checkAgent(c.Agent); err != nil {
		return nil, err
	}
	round, err := s.checkRound(c.Round)
	if err != nil {
		return nil, err
	}
	if len(c.Run) > maxName {
		return nil, errs.New(errs.NameTooLong, "the run's id has more than %d bytes", maxName).With("limit", maxName)
	}
	if c.Known || c.Run != "" && slices.ContainsFunc(s.Attestations, func(st Attestation) bool { return st.Run == c.Run && st.Agent == c.Agent }) {
		return nil, nil
	}
	if len(s.Attestations) >= maxListed {
		return nil, errs.New(errs.StampsTooMany, "round %d has %d attestations already", round, maxListed).With("limit", maxListed)
	}
	attestation := Attestation{
		Round: round, Agent: c.Agent, Source: c.Source, By: c.By, Run: c.Run, Spawn: c.Spawn, ToolUses: len(c.Tools),
		SearchEvidence: s.countSearches(c.Agent), Audited: slices.Contains(c.Audited, c.Agent),
	}
	for _, tool := range c.Tools {
		if slices.Contains(c.SearchTools, tool) {
			attestation.SearchCalls++
		}
	}
	// A run of the host needs no other evidence.
	if c.Source == ByHost || attestation.SearchEvidence > 0 {
		attestation.Credited = attestation.SearchCalls
	}
	switch {
	case !attestation.Audited || attestation.Credited > 0:
	case attestation.SearchCalls > 0:
		attestation.Violation = SearchUnverified
	default:
		attestation.Violation = NoSearch
	}
	if attestation.Violation != "" && len(s.Violations) >= maxListed && !s.hasViolation(c.Agent, attestation.Violation) {
		return nil, errs.New(errs.StampsTooMany, "%d violations wait to be routed already", maxListed).With("limit", maxListed)
	}
	return AgentAttested{Attestation: attestation}, nil
}

// hasViolation reports whether an agent has an unrouted violation of a kind. A second
// violation would be the same finding.
func (s State) hasViolation(agent string, kind ViolationKind) bool {
	return slices.ContainsFunc(s.Violations, func(v Violation) bool { return v.Agent == agent && v.Kind == kind })
}

// checkRound returns the current round if it is the expected one; 0 expects any.
func (s State) checkRound(expected int) (int, error) {
	round := max(s.Round, 1)
	if expected != 0 && expected != round {
		return 0, ErrRoundShifted(expected, round)
	}
	return round, nil
}

// countSearches counts the recorded searches of an agent in this round. If no search of
// the round names an agent, all of them count for every agent.
func (s State) countSearches(agent string) int {
	own, anonymous := 0, 0
	for _, search := range s.Searches {
		switch search.Agent {
		case agent:
			own++
		case "":
			anonymous++
		}
	}
	if anonymous == len(s.Searches) {
		return anonymous
	}
	return own
}

// maxQuery limits a stored query, in bytes.
const maxQuery = 200

// RecordSearch records that an agent searched. Its round is 0 for the current one.
type RecordSearch Search

func (c RecordSearch) decide(s State) (Event, error) {
	if c.Agent != "" {
		if err := checkAgent(c.Agent); err != nil {
			return nil, err
		}
	}
	var err error
	if c.Round, err = s.checkRound(c.Round); err != nil {
		return nil, err
	}
	if len(s.Searches) >= maxListed {
		return nil, errs.New(errs.StampsTooMany, "round %d has %d searches already", c.Round, maxListed).With("limit", maxListed)
	}
	c.Query = textutil.ClipBytes(c.Query, maxQuery)
	return SearchRecorded{Search: Search(c)}, nil
}

// The categories of the host's own findings.
const (
	// CategoryRule9: an agent broke the search-before-write rule.
	CategoryRule9 = "rule-9-violation"
	// CategoryCriticError: the critic failed.
	CategoryCriticError = "critic-error"
)

// AuditFindings returns the findings of the unrouted violations. They stay until a
// decision routes them to an agent: a decision for stuck or for the user keeps them.
func (s State) AuditFindings() []finding.Finding {
	var found []finding.Finding
	for _, v := range s.Violations {
		found = append(found, v.finding(max(s.Round, 1)))
	}
	return found
}

func (v Violation) finding(round int) finding.Finding {
	// Only the start of a remediation is part of a finding's identity. So the text begins
	// with the agent and the kind, and the note at the end does not change it.
	text := fmt.Sprintf("Run %s again and have it call the search tool before it works: no search of it is on record, which rule 9 demands.", v.Agent)
	if v.Kind == SearchUnverified {
		text = fmt.Sprintf("Have %s search for real when it runs again: it says that it searched, and nothing on record backs it, as rule 9 demands.", v.Agent)
	}
	if v.Round < round {
		text += fmt.Sprintf(" Carried forward from round %d.", v.Round)
	}
	file := "-"
	return finding.Finding{
		Critic: finding.AuditCritic, Category: CategoryRule9, Severity: finding.Fail, File: &file,
		Remediation: text, ConfirmedBy: []string{finding.AuditCritic},
	}
}
