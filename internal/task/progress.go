package task

import "slices"

// Trace is the history of one finding of a task, by its fingerprint. Rounds and reviews
// count from 1.
type Trace struct {
	// First is the first round with the finding.
	First int `json:"first"`
	// Since is the first round of its current uninterrupted presence.
	Since int `json:"since"`
	// Last is the latest review with the finding.
	Last int `json:"last"`
	// Reopened counts how often it came back.
	Reopened int `json:"reopened,omitzero"`
	// Deferred is set if its latest review deferred it.
	Deferred bool `json:"deferred,omitzero"`
}

// FindingStatus is the status of a finding compared with earlier reviews.
type FindingStatus string

// The statuses of a finding.
const (
	New      FindingStatus = "new"
	Repeat   FindingStatus = "repeat"
	Reopened FindingStatus = "reopened"
)

// Compare returns the status of a finding in the review after this state. past is its
// trace, the zero Trace if it is new.
func (s State) Compare(past Trace) FindingStatus {
	switch {
	case past.Last == 0 || past.Last <= s.ResetReview:
		return New
	case past.Last == s.Reviews:
		return Repeat
	default:
		return Reopened
	}
}

// Trace returns the trace of a finding after the next review, which may defer it.
func (s State) Trace(past Trace, deferred bool) Trace {
	round, review := max(s.Round, 1), s.Reviews+1
	switch s.Compare(past) {
	case New:
		past = Trace{First: round, Since: round}
	case Reopened:
		past.Since = round
		past.Reopened++
	}
	past.Last, past.Deferred = review, deferred
	return past
}

// Reviewed has the facts about a finding of a review that the progress depends on.
type Reviewed struct {
	Status FindingStatus
	// Past is the finding's trace, the zero Trace if it is new.
	Past Trace
	// Renamed is set if the critic states that it reported the finding before, in other
	// words.
	Renamed bool
	// Blocking is set if no bar could defer the finding, Deferred if the bar does.
	Blocking, Deferred bool
	// Induced reports whether the last fix caused the finding; nil if it is unknown.
	Induced *bool
}

// Progress compares a review's findings with the earlier reviews.
type Progress struct {
	// The counts of open findings.
	New, Repeat, Reopened int
	// Resolved counts the previous review's open findings that are gone.
	Resolved int
	// Stalled counts the reviews in a row without progress, including this one.
	Stalled int

	// The facts of ADR-0024 are about all findings, deferred ones included.

	// FirstTime counts the findings that the task never had before.
	FirstTime int
	// SinceLow counts the reviews in a row, including this one, with more first-time
	// findings than some earlier review that had any.
	SinceLow int
	// Blocking counts the findings that no bar could defer.
	Blocking int
	// Induced counts the findings that the last fix caused; nil if it is unknown.
	Induced *int
	// InducedRounds counts the reviews in a row, including this one, in which the fix before
	// caused all blocking findings.
	InducedRounds int
	// Deferred counts the findings that the bar defers.
	Deferred int
}

// IsStalled reports whether the review made no progress: all of its findings are repeated,
// and no earlier finding was resolved (ADR-0003).
func (p Progress) IsStalled() bool {
	return p.Repeat > 0 && p.New == 0 && p.Reopened == 0 && p.Resolved == 0
}

// Measure compares the findings of the review after this state with earlier reviews.
func (s State) Measure(findings []Reviewed) Progress {
	var p Progress
	open := 0 // findings that were open before and are repeated
	for _, f := range findings {
		if f.Status == Repeat && !f.Past.Deferred {
			open++
		}
		switch {
		case f.Deferred:
			p.Deferred++
		case f.Status == New:
			p.New++
		case f.Status == Repeat:
			p.Repeat++
		default:
			p.Reopened++
		}
	}
	if s.Reviews > s.ResetReview {
		p.Resolved = max(s.Remaining-open, 0)
	}
	if p.IsStalled() {
		p.Stalled = s.Stalled + 1
	}
	p.addFacts(s, findings)
	return p
}

// AfterReview returns the state after another review, which the one after that is compared
// with. open is the number of its open findings.
func (s State) AfterReview(open int, p Progress) State {
	s.Reviews++
	s.Remaining, s.Stalled, s.InducedRounds = open, p.Stalled, p.InducedRounds
	s.FewestFirstTime, s.SinceLow = s.fewestFirstTime(p.FirstTime)
	return s
}

// highestBar is the bar below which no finding is deferred.
const highestBar = "fail"

// barRank orders bars: all, risk, fail. An unknown bar has rank -1.
func barRank(bar string) int { return slices.Index([]string{"", "risk", highestBar}, bar) }

func (p *Progress) addFacts(s State, findings []Reviewed) {
	induced, known, blame := 0, true, true
	for _, f := range findings {
		if f.Past.Last == 0 && !f.Renamed {
			p.FirstTime++
		}
		byFix := f.Induced != nil && *f.Induced
		known = known && f.Induced != nil
		if byFix {
			induced++
		}
		if f.Blocking {
			p.Blocking++
			blame = blame && byFix
		}
	}
	_, p.SinceLow = s.fewestFirstTime(p.FirstTime)
	if known && len(findings) > 0 {
		p.Induced = &induced
		if blame && p.Blocking > 0 {
			p.InducedRounds = s.InducedRounds + 1
		}
	}
}

// fewestFirstTime returns the fewest first-time findings of a review that had any, after a
// review with count of them, and the number of reviews since then that had more.
func (s State) fewestFirstTime(count int) (fewest, since int) {
	switch {
	case count == 0:
		return s.FewestFirstTime, 0
	case s.FewestFirstTime == 0 || count <= s.FewestFirstTime:
		return count, 0
	default:
		return s.FewestFirstTime, s.SinceLow + 1
	}
}
