package task

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// CommitTask commits the task if the latest decision allows it.
type CommitTask struct {
	// MustVerify is set if the project requires verification for every commit.
	MustVerify bool
	Force      *Force
}

func (c CommitTask) decide(s State) (Event, error) {
	e := WorkCommitted{Round: max(s.Round, 1), Missing: s.MissingForCommit(c.MustVerify)}
	if len(e.Missing) == 0 {
		return e, nil
	}
	if c.Force == nil {
		return nil, notReady(e.Round, e.Missing)
	}
	e.Force = c.Force
	return e, nil
}

// The preconditions that a commit may lack.
const (
	MissingVerification = "verification"
	MissingReview       = "review"
	MissingZeroFindings = "zero-findings"
)

// MissingForCommit lists the preconditions for a commit that this round lacks.
func (s State) MissingForCommit(mustVerify bool) []string {
	var missing []string
	if s.Verified == nil && (mustVerify || s.Verifies) {
		missing = append(missing, MissingVerification)
	}
	switch last := s.Last; {
	case s.Phase != Review || last == nil || last.Round != s.Round:
		missing = append(missing, MissingReview)
	case last.FindingCount > 0 || last.NextAction != actionCommit || len(s.Violations) > 0:
		missing = append(missing, MissingZeroFindings)
	}
	return missing
}

// missingPreconditions lists the preconditions that a decision to commit lacks according to
// its own fields. No policy's decision should lack any; this is a second check before a
// commit.
func (o DecideRound) missingPreconditions(s State) []string {
	if o.NextAction != actionCommit {
		return nil
	}
	var missing []string
	if o.Verify == red {
		missing = append(missing, MissingVerification)
	}
	if !o.Reviewed {
		missing = append(missing, MissingReview)
	}
	// A violation is a finding, which a decision without findings has not considered.
	if o.FindingCount > 0 || len(s.Violations) > 0 {
		missing = append(missing, MissingZeroFindings)
	}
	return missing
}

func notReady(round int, missing []string) error {
	words := map[string]string{
		MissingVerification: "its green verification is missing",
		MissingReview:       "its review is missing",
		MissingZeroFindings: "findings are open, or its review did not decide to commit",
	}
	var lacks []string
	for _, m := range missing {
		lacks = append(lacks, words[m])
	}
	return errs.New(errs.CommitPreconditionMissing, "round %d may not be committed: %s", round, strings.Join(lacks, ", and ")).
		With("round", round).With("missing", missing)
}
