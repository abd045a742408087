package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// CompletePhase says that a phase before the draft is done.
type CompletePhase struct {
	Phase Phase
	// Required is how many stamps of the phase's agent it needs.
	Required int
	Tests    []string
	Force    *Force
}

func (c CompletePhase) decide(s State) (Event, error) {
	if err := allow(s, KindPrepared); err != nil {
		return nil, err
	}
	if c.Phase != Research && c.Phase != Design && c.Phase != Tests {
		return nil, fmt.Errorf("phase %q is none that prepares a draft", c.Phase)
	}
	if len(union(s.Tests, c.Tests)) > maxListed {
		return nil, errs.New(errs.StampsTooMany, "the task would have %d test files", len(union(s.Tests, c.Tests))).With("limit", maxListed)
	}
	if slices.ContainsFunc(c.Tests, func(name string) bool { return len(name) > maxName }) {
		return nil, errs.New(errs.NameTooLong, "the name of a test file has more than %d bytes", maxName).With("limit", maxName)
	}
	e := PhaseDone{Round: max(s.Round, 1), Phase: c.Phase, Required: c.Required, Found: s.CountStamps(s.phaseAgent(c.Phase)), Tests: c.Tests}
	if err := s.CheckEvidence(c.Phase, c.Required); err != nil {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// BeginVerification says that a draft is about to be verified: what is known of an earlier
// one of this round ends here, whatever becomes of the verification. It is an event
// also where nothing is known: of two verifications at a time, the older one is
// about an older draft.
type BeginVerification struct {
	// Same says that the draft is the reviewed one, verified once more: only its
	// verification ends here.
	Same bool
}

func (c BeginVerification) decide(s State) (Event, error) {
	if err := allow(s, KindRedrafted); err != nil {
		return nil, err
	}
	if c.Same && s.Verified == nil {
		return nil, nil // It has no verification that could end.
	}
	return DraftBegun{Round: max(s.Round, 1), Same: c.Same}, nil
}

// RecordVerification says that a draft is done and its verification green.
type RecordVerification struct {
	Verification Verification
	// InRound says that this is a part of a round that was entered: its own gate
	// has said which evidence it needs.
	InRound bool
	Force   *Force
}

func (c RecordVerification) decide(s State) (Event, error) {
	if err := allow(s, KindDrafted); err != nil {
		return nil, err
	}
	e := DraftVerified{Round: max(s.Round, 1), Verification: c.Verification}
	if err := s.CheckEvidence(Draft, 1); err != nil && !c.InRound {
		if c.Force == nil {
			return nil, err
		}
		e.Force = c.Force
	}
	return e, nil
}

// VerificationOutcome returns the outcome of this round's verification, where a stamp says
// more than the caller: given is green, red, absent or "".
func (s State) VerificationOutcome(given string) (string, *Verification) {
	if given != green && given != red && s.Verified != nil {
		return green, s.Verified
	}
	return given, nil
}
