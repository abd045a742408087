package routing

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Facts is the part of an input that only policies with a rule named bar see (ADR-0024). It
// is the same for both rules, except for DeferredCount.
type Facts struct {
	// HardCap is the last round of the task, from MaxRounds to MaxRoundsLimit.
	HardCap int `json:"hard_cap"`
	// MayExtend reports whether the task may go past MaxRounds: rounds are left to HardCap,
	// and this review was productive. In a productive review all findings of the previous
	// review are fixed, and no earlier finding has come back.
	MayExtend bool `json:"may_extend"`
	// RoundsLeft is the number of rounds after this one, up to HardCap.
	RoundsLeft int `json:"rounds_left"`
	// FirstTimeCount is the number of findings, with deferred ones, that the task never had
	// before: neither by their fingerprint, nor as the critic states.
	FirstTimeCount int `json:"first_time_count"`
	// ReviewsSinceLow is the number of reviews in a row, including this one, that had more
	// first-time findings than some earlier review with first-time findings.
	ReviewsSinceLow int `json:"reviews_since_low"`
	// InducedCount is the number of findings, with deferred ones, in lines that the
	// executor's last turn changed. If unknown, it is nil, and undefined in a policy.
	InducedCount *int `json:"induced_count,omitzero"`
	// InducedRounds is the number of reviews in a row, including this one, that had
	// blocking findings, all of them induced.
	InducedRounds int `json:"induced_rounds"`
	// BlockingCount is the number of findings that no bar defers.
	BlockingCount int `json:"blocking_count"`
	// DeferredCount is the number of findings below the bar. Other counts exclude them,
	// unless their comments say otherwise. The rule bar does not see it.
	DeferredCount int `json:"deferred_count"`
	// Confinement is the lowest confinement level at which one of the round's reports was
	// made.
	Confinement confinement.Level `json:"confinement"`
}

const (
	confinementField = "confinement"
	deferredField    = "deferred_count"
	hardCapField     = "hard_cap"
	mayExtendField   = "may_extend"
)

// firstReview returns the facts of a first review with in.
func firstReview(in Input) *Facts {
	hard := min(2*max(in.MaxRounds, 0), MaxRoundsLimit)
	return &Facts{
		HardCap: hard, RoundsLeft: max(hard-in.Round, 0), FirstTimeCount: in.NewCount, BlockingCount: in.FindingCount,
		Confinement: confinement.None,
	}
}

// check checks f for consistency with itself and with the rest of the input.
func (f Facts) check(in Input, wrong refusal) error {
	for _, count := range []struct {
		field string
		n     int
	}{
		{"first_time_count", f.FirstTimeCount}, {"reviews_since_low", f.ReviewsSinceLow}, {"induced_rounds", f.InducedRounds},
		{"blocking_count", f.BlockingCount}, {deferredField, f.DeferredCount},
	} {
		if count.n < 0 {
			return wrong(count.field, count.n, "must not be negative")
		}
	}
	induced := 0
	if f.InducedCount != nil {
		induced = *f.InducedCount
	}
	switch {
	case f.HardCap < in.MaxRounds || f.HardCap > MaxRoundsLimit:
		return wrong(hardCapField, f.HardCap, "must be from max_rounds, %d, to %d", in.MaxRounds, MaxRoundsLimit)
	case f.RoundsLeft != max(f.HardCap-in.Round, 0):
		return wrong("rounds_left", f.RoundsLeft, "must be the rounds from round %d to hard_cap, %d", in.Round, f.HardCap)
	case f.BlockingCount > in.FindingCount:
		return wrong("blocking_count", f.BlockingCount, "must be at most finding_count, %d", in.FindingCount)
	case f.FirstTimeCount-in.FindingCount > f.DeferredCount:
		return wrong("first_time_count", f.FirstTimeCount, "must be at most finding_count, %d, and deferred_count, %d", in.FindingCount, f.DeferredCount)
	case induced < 0 || induced-in.FindingCount > f.DeferredCount:
		return wrong("induced_count", induced, "must be from 0 to finding_count, %d, and deferred_count, %d", in.FindingCount, f.DeferredCount)
	case f.ReviewsSinceLow > 0 && f.FirstTimeCount == 0:
		return wrong("reviews_since_low", f.ReviewsSinceLow, "must be 0 without first-time findings")
	case f.InducedRounds > 0 && (f.BlockingCount == 0 || induced < f.BlockingCount):
		return wrong("induced_rounds", f.InducedRounds, "must be 0 unless there are blocking findings, all of them induced")
	case f.MayExtend && (f.RoundsLeft == 0 || !in.Productive()):
		return wrong(mayExtendField, f.MayExtend, "must be false unless rounds are left, findings are resolved, no finding has come back, and verification is not red")
	case !f.Confinement.Known():
		return wrong(confinementField, f.Confinement, "must be one of %s", textutil.List(textutil.Strings(confinement.Levels()), len(confinement.Levels())))
	}
	return nil
}

// Bar is the severity from which findings are open. Findings below it are deferred.
type Bar string

// The bars, lowest first.
const (
	// BarAll defers nothing.
	BarAll Bar = "all"
	// BarRisk defers nits.
	BarRisk Bar = "risk"
	// BarFail defers nits and risks.
	BarFail Bar = "fail"
)

// Bars returns every bar, lowest first.
func Bars() []Bar { return []Bar{BarAll, BarRisk, BarFail} }

// Above reports whether b defers more than other. "" is BarAll.
func (b Bar) Above(other Bar) bool { return b.rank() > other.rank() }

// Defers reports whether a finding of that severity is below the bar. An unknown severity
// is never deferred.
func (b Bar) Defers(s finding.Severity) bool {
	return b == BarFail && s == finding.Risk || b.Above(BarAll) && s == finding.Nit
}

// Valid reports whether b is one of the bars.
func (b Bar) Valid() bool { return slices.Contains(Bars(), b) }

func (b Bar) rank() int { return max(slices.Index(Bars(), b), 0) }
