package task

// Trace is the history of one finding of a task, by its fingerprint. Rounds and reviews
// count from 1.
type Trace struct {
	// First is the first round with the finding.
	First int `json:"first"`
	// Since is the first round of its current uninterrupted presence.
	Since int `json:"since"`
	// Last is the latest review with the finding.
	Last int `json:"last"`
	// Reopened counts how often it came back after it was gone.
	Reopened int `json:"reopened,omitzero"`
}

// FindingStatus is the status of a finding compared with earlier reviews.
type FindingStatus string

// The statuses of a finding.
const (
	New      FindingStatus = "new"
	Repeat   FindingStatus = "repeat"
	Reopened FindingStatus = "reopened"
)

// Compare returns the status of a finding of the review after this state. past is its
// trace, the zero Trace for none.
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

// Trace returns the trace of a finding of the review after this state.
func (s State) Trace(past Trace) Trace {
	round, review := max(s.Round, 1), s.Reviews+1
	switch s.Compare(past) {
	case New:
		return Trace{First: round, Since: round, Last: review}
	case Repeat:
		past.Last = review
		return past
	default:
		past.Since, past.Last = round, review
		past.Reopened++
		return past
	}
}

// Progress compares a review's findings with those of the reviews before.
type Progress struct {
	New, Repeat, Reopened int
	// Resolved counts the previous review's findings that are gone.
	Resolved int
	// Stalled counts the reviews in a row without progress, including this one.
	Stalled int
}

// IsStalled reports whether the review made no progress: there are findings, none is new
// or reopened, and none was resolved (ADR-0003).
func (p Progress) IsStalled() bool {
	return p.Repeat > 0 && p.New == 0 && p.Reopened == 0 && p.Resolved == 0
}

// Measure compares the findings of the review after this state with earlier reviews,
// given the status of each.
func (s State) Measure(standings []FindingStatus) Progress {
	var p Progress
	for _, standing := range standings {
		switch standing {
		case New:
			p.New++
		case Repeat:
			p.Repeat++
		default:
			p.Reopened++
		}
	}
	if s.Reviews > s.ResetReview {
		p.Resolved = max(s.Remaining-p.Repeat, 0)
	}
	if p.IsStalled() {
		p.Stalled = s.Stalled + 1
	}
	return p
}
