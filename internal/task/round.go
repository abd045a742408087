package task

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RoundEntry is a request to decide the current round.
type RoundEntry struct {
	// Expected is the round that the caller expects, 0 for any.
	Expected int
	// MaxRounds is the caller's cap; 0 stands for the task's own, or for Fallback if the
	// task has no cap. HardCap is the project's hard cap, 0 if unset.
	MaxRounds, Fallback, HardCap int
	// Phases are the phases that need an attestation of their agents.
	Phases []Phase
	Force  *Force
}

// Round is a round that can be decided.
type Round struct {
	Number, MaxRounds int
	// HardCap is the highest round that the decision may lead to.
	HardCap int
	// CustomCap is set if MaxRounds is the task's own cap.
	CustomCap bool
	// Force is set if a gate had to be forced.
	Force *Force
}

// EnterRound returns the round to decide.
//
// # Errors
//
// task-waiting, task-stuck or task-committed if the task cannot continue, round-shifted
// if it is in another round than expected, cap-fixed and evidence-missing.
func EnterRound(s State, e RoundEntry) (Round, error) {
	if err := checkAllowed(s, KindDecided); err != nil {
		return Round{}, err
	}
	due, err := s.checkRound(e.Expected)
	if err != nil {
		return Round{}, err
	}
	if err := s.CheckMaxRounds(e.MaxRounds); err != nil {
		return Round{}, err
	}
	r := Round{Number: due}
	for _, p := range e.Phases {
		if err := s.checkEvidence(p, 1); err != nil {
			if e.Force == nil {
				return Round{}, err
			}
			r.Force = e.Force
		}
	}
	if s.MaxRounds != 0 {
		r.MaxRounds, r.HardCap, r.CustomCap = s.MaxRounds, s.hardCap(), s.CustomCap
	} else {
		r.MaxRounds, r.CustomCap = cmp.Or(e.MaxRounds, e.Fallback), e.MaxRounds != 0
		r.HardCap = hardCap(r.MaxRounds, 0, e.HardCap)
	}
	return r, nil
}

// ErrRoundShifted returns the error for a caller that expects another round, or lost the
// race for it.
func ErrRoundShifted(expected, actual int) error {
	return errs.New(errs.RoundShifted, "the task is in round %d, not in round %d", actual, expected).
		With("expected", expected).With("actual", actual)
}

// DecideRound records the policy's decision about a round.
type DecideRound struct {
	// RoundDecided is the event. Its fields about the round and the cap follow from Round.
	RoundDecided
	Round Round
	// AdvancesRound is the policy's declaration of NextAction.
	AdvancesRound bool
	// MustVerify is set if the project requires verification for every commit.
	MustVerify bool
}

// The destinations, kinds and outcomes that the state machine depends on.
const (
	actionCommit = "commit"
	kindAgent    = "agent"
	kindHuman    = "human"
	kindTerminal = "terminal"
	green        = "green"
	red          = "red"
	absent       = "absent"
)

// decide returns the event of the decision. The round advances if the destination advances
// it or the verification was red, unless the task ends here.
func (o DecideRound) decide(s State) (Event, error) {
	if due := max(s.Round, 1); o.Round.Number != due {
		return nil, ErrRoundShifted(o.Round.Number, due)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.checkFresh(s); err != nil {
		return nil, err
	}
	if missing := o.missingPreconditions(s); len(missing) > 0 {
		return nil, notReady(o.Round.Number, missing)
	}
	if o.NextAction == actionCommit && o.Final && o.Verify != green && (o.MustVerify || s.Verifies) {
		return nil, errs.New(errs.CommitUnverified, "round %d has no findings, but also no green verification, without which this task is not committed", o.Round.Number).
			With("round", o.Round.Number)
	}
	next := o.Round.Number
	// A round can be decided without advancing at most MaxRounds-1 times, so that every
	// loop ends.
	if o.DestinationKind != kindTerminal && (o.AdvancesRound || o.Verify == red || s.NonAdvancing+1 >= o.Round.MaxRounds) {
		next++
	}
	if err := checkCap(next, o.Round.MaxRounds); err != nil {
		return nil, err
	}
	if next > max(o.Round.HardCap, o.Round.Number) {
		return nil, errs.New(errs.RoundsExhausted, "round %d, which would follow, is beyond the task's hard cap of %s", next, textutil.Count(o.Round.HardCap, "round")).
			With("limit", o.Round.HardCap)
	}
	e := o.RoundDecided
	e.Round, e.NextRound, e.MaxRounds, e.HardCap = o.Round.Number, next, o.Round.MaxRounds, o.Round.HardCap
	e.CustomCap, e.Force = o.Round.CustomCap, o.Round.Force
	return e, nil
}

// checkFresh rejects a commit on a report that this round already decided, unless the critic
// has an attestation since then: it may have written the same report again.
func (o DecideRound) checkFresh(s State) error {
	if n := len(union(s.Evidence, o.Evidence)); n > maxListed {
		return errs.New(errs.StampsTooMany, "round %d would rest on %d reports that name it", o.Round.Number, n).With("limit", maxListed)
	}
	if o.NextAction != actionCommit || s.CountAttestations(AgentCritic) > 0 {
		return nil
	}
	for _, digest := range o.Evidence {
		if slices.Contains(s.Evidence, digest) {
			return errs.New(errs.ReportReplayed, "the report was decided on before, in this very round").With("digest", digest)
		}
	}
	return nil
}

// check rejects invalid fields. A waiting task without a question could never continue.
func (o DecideRound) check() error {
	switch o.Verify {
	case green, red, absent:
	default:
		return fmt.Errorf("verification is neither green, red nor absent but %q", o.Verify)
	}
	seen := make(map[string]bool)
	for _, q := range o.Questions {
		if q.Fingerprint == "" || seen[q.Fingerprint] {
			return fmt.Errorf("the fingerprint %q of a question is missing or not unique", q.Fingerprint)
		}
		seen[q.Fingerprint] = true
	}
	if o.DestinationKind == kindHuman && len(o.Questions) == 0 {
		return fmt.Errorf("round %d asks the user nothing", o.Round.Number)
	}
	return nil
}
