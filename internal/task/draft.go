package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// CompletePhase ends a phase before the draft.
type CompletePhase struct {
	Phase Phase
	// Required is the number of attestations that the phase's agent needs.
	Required int
	Tests    []string
	Force    *Force
}

func (c CompletePhase) decide(s State) (Event, error) {
	if c.Phase != Research && c.Phase != Design && c.Phase != Tests {
		return nil, fmt.Errorf("phase %q does not prepare a draft", c.Phase)
	}
	if n := len(union(s.Tests, c.Tests)); n > maxListed {
		return nil, errs.New(errs.StampsTooMany, "the task would have %d test files", n).With("limit", maxListed)
	}
	if slices.ContainsFunc(c.Tests, func(name string) bool { return len(name) > maxName }) {
		return nil, errs.New(errs.NameTooLong, "the name of a test file has more than %d bytes", maxName).With("limit", maxName)
	}
	e := PhaseDone{Round: max(s.Round, 1), Phase: c.Phase, Required: c.Required, Found: s.CountAttestations(s.phaseAgent(c.Phase)), Tests: c.Tests}
	if err := s.checkEvidence(c.Phase, c.Required); err != nil {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// BeginVerification announces the verification of a draft. It discards the evidence about
// an earlier draft of this round, whatever the result will be. It is recorded even if there
// is no such evidence, because a concurrent verification that began earlier is about an
// older draft.
type BeginVerification struct {
	// Same is set if the reviewed draft is verified again: only its verification is
	// discarded.
	Same bool
}

func (c BeginVerification) decide(s State) (Event, error) {
	if c.Same && s.Verified == nil {
		return nil, nil // There is no verification to discard.
	}
	return DraftBegun{Round: max(s.Round, 1), Same: c.Same}, nil
}

// RecordVerification records a draft with a green verification.
type RecordVerification struct {
	Verification Verification
	// InRound is set if the round was entered: its gate has checked the evidence.
	InRound bool
	Force   *Force
}

func (c RecordVerification) decide(s State) (Event, error) {
	e := DraftVerified{Round: max(s.Round, 1), Verification: c.Verification}
	if err := s.checkEvidence(Draft, 1); err != nil && !c.InRound {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// VerificationOutcome returns the outcome of this round's verification: given, or the
// recorded green one if given is absent or "".
func (s State) VerificationOutcome(given string) (string, *Verification) {
	if given != green && given != red && s.Verified != nil {
		return green, s.Verified
	}
	return given, nil
}
