package task

import (
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// RoundEntry says which round of a task comes next, and what is needed to decide it.
type RoundEntry struct {
	// Expected is the round that the caller means, 0 where it means whichever
	// comes.
	Expected int
	// MaxRounds is the caller's cap, 0 where the task keeps its own, or gets
	// Fallback if it has none.
	MaxRounds, Fallback int
	// Phases are those whose agents must have left their stamps.
	Phases []Phase
	Force  *Force
}

// Round is a round that may be decided.
type Round struct {
	Number, MaxRounds int
	// CustomCap says that the cap is the task's own.
	CustomCap bool
	// Force is set where a gate had to be forced.
	Force *Force
}

// EnterRound says which round is to be decided.
//
// # Errors
//
// task-waiting, task-stuck or task-committed where the task may not go on,
// round-shifted where it is in another round than expected, and evidence-missing.
func EnterRound(s State, e RoundEntry) (Round, error) {
	if err := allow(s, KindDecided); err != nil {
		return Round{}, err
	}
	due, err := s.checkRound(e.Expected)
	if err != nil {
		return Round{}, err
	}
	r := Round{Number: due}
	for _, p := range e.Phases {
		if err := s.CheckEvidence(p, 1); err != nil {
			if e.Force == nil {
				return Round{}, err
			}
			r.Force = e.Force
		}
	}
	switch {
	case e.MaxRounds != 0:
		r.MaxRounds, r.CustomCap = e.MaxRounds, true
	case s.MaxRounds != 0:
		r.MaxRounds, r.CustomCap = s.MaxRounds, s.CustomCap
	default:
		r.MaxRounds = e.Fallback
	}
	return r, nil
}

// ErrRoundShifted is the error of a caller that means another round than the task is
// in, or lost the race for it.
func ErrRoundShifted(expected, actual int) error {
	return errs.New(errs.RoundShifted, "the task is in round %d, not in round %d", actual, expected).
		With("expected", expected).With("actual", actual)
}

// DecideRound is what the policy made of a round that was entered.
type DecideRound struct {
	Round      Round
	NextAction string
	Reason     string
	Policy     string
	// DestinationKind and AdvancesRound are the policy's declaration of
	// NextAction.
	DestinationKind string
	AdvancesRound   bool
	FindingCount    int
	// Reviewed says that reports were read.
	Reviewed bool
	// Verify is green, red or absent, and Verification what is known of it.
	Verify       string
	Verification *Verification
	// MustVerify says that the project wants every commit verified.
	MustVerify bool
	// Final says that a decision to commit commits the task.
	Final bool
	// Evidence lists the digests of reports that name their round.
	Evidence  []string
	Questions []Question
	// Stalled counts the reviews in a row that made no progress, this one included.
	Stalled int
}

// The destinations, kinds and outcomes that the state machine itself knows.
const (
	actionCommit = "commit"
	kindHuman    = "human"
	kindTerminal = "terminal"
	green        = "green"
	red          = "red"
	absent       = "absent"
)

// decide makes the event of a round's outcome. The round advances when the
// destination says so, and when verification was red, unless the task ends
// here.
func (o DecideRound) decide(s State) (Event, error) {
	if err := allow(s, KindDecided); err != nil {
		return nil, err
	}
	if due := max(s.Round, 1); o.Round.Number != due {
		return nil, ErrRoundShifted(o.Round.Number, due)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.fresh(s); err != nil {
		return nil, err
	}
	if missing := o.unready(s); len(missing) > 0 {
		return nil, notReady(o.Round.Number, missing)
	}
	if o.NextAction == actionCommit && o.Final && o.Verify != green && (o.MustVerify || s.Verifies) {
		return nil, errs.New(errs.CommitUnverified, "round %d has no findings, but also no green verification, without which this task is not committed", o.Round.Number).
			With("round", o.Round.Number)
	}
	next := o.Round.Number
	// A round that nothing advances is decided as often as the task has rounds,
	// and no oftener: else a loop through it would have no end.
	if o.DestinationKind != kindTerminal && (o.AdvancesRound || o.Verify == red || s.NonAdvancing+1 >= o.Round.MaxRounds) {
		next++
	}
	if err := checkCap(next, o.Round.MaxRounds); err != nil {
		return nil, err
	}
	return RoundDecided{
		Round: o.Round.Number, NextRound: next, MaxRounds: o.Round.MaxRounds, CustomCap: o.Round.CustomCap,
		NextAction: o.NextAction, DestinationKind: o.DestinationKind, Reason: o.Reason, Policy: o.Policy,
		FindingCount: o.FindingCount, Reviewed: o.Reviewed, Verify: o.Verify, Verification: o.Verification,
		Final: o.Final, Evidence: o.Evidence, Stalled: o.Stalled, Questions: o.Questions, Force: o.Round.Force,
	}, nil
}

// fresh refuses a commit on a report that was decided on before in this round,
// unless its critic is known to have run since: then it found the same once more.
func (o DecideRound) fresh(s State) error {
	if n := len(union(s.Evidence, o.Evidence)); n > maxListed {
		return errs.New(errs.StampsTooMany, "round %d would rest on %d reports that name it", o.Round.Number, n).With("limit", maxListed)
	}
	if o.NextAction != actionCommit || s.CountStamps(AgentCritic) > 0 {
		return nil
	}
	for _, digest := range o.Evidence {
		if slices.Contains(s.Evidence, digest) {
			return errs.New(errs.ReportReplayed, "the report was decided on before, in this very round").With("digest", digest)
		}
	}
	return nil
}

// check refuses what no caller should say of a round: a task that waits without a
// question could never go on.
func (o DecideRound) check() error {
	switch o.Verify {
	case green, red, absent:
	default:
		return fmt.Errorf("verification is neither green, red nor absent but %q", o.Verify)
	}
	seen := make(map[string]bool)
	for _, q := range o.Questions {
		if q.Fingerprint == "" || seen[q.Fingerprint] {
			return fmt.Errorf("the fingerprint %q of a question is not its own", q.Fingerprint)
		}
		seen[q.Fingerprint] = true
	}
	if o.DestinationKind == kindHuman && len(o.Questions) == 0 {
		return fmt.Errorf("round %d asks the user nothing", o.Round.Number)
	}
	return nil
}
