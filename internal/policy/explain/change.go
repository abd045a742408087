package explain

import (
	"maps"
	"math"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Kind is what a change is about.
type Kind string

// The kinds of change. What is counted costs as much as the number changes by.
const (
	// Findings: a destination has fewer findings, or more.
	Findings Kind = "findings"
	// Verification: it ended otherwise. It costs 1.
	Verification Kind = "verification"
	// Cap: the cap on rounds is higher or lower.
	Cap Kind = "cap"
	// Round: it is an earlier or a later round. That is only tried where the policy
	// compares the round with a number: to reach the cap or not, the cap is changed.
	Round Kind = "round"
	// News: one of the findings is new, and not a repeat. It costs 1.
	News Kind = "news"
	// Stall: fewer or more reviews in a row made no progress.
	Stall Kind = "stall"
)

// Change is one change of an input.
type Change struct {
	Kind Kind `json:"kind"`
	// Destination is where the findings go, "" for other kinds.
	Destination string `json:"destination,omitzero"`
	// Count is the number that changes: findings for the destination, the cap, the
	// round, new findings or stalled rounds. It is nil for Verification.
	Count *Count `json:"count,omitzero"`
	// Verify is nil for every kind but Verification.
	Verify *Verify `json:"verify,omitzero"`
	// Words says it, as in "without the 2 findings for researcher".
	Words string `json:"words"`
}

// Count is a number before and after a change.
type Count struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Verify is the outcome of the verification before and after a change.
type Verify struct {
	From routing.Verify `json:"from"`
	To   routing.Verify `json:"to"`
}

// cost is how large the change is: at least 1.
func (c Change) cost() int {
	if c.Count == nil {
		return 1
	}
	return max(c.Count.To-c.Count.From, c.Count.From-c.Count.To)
}

// apply returns in with all of the changes, or false where they do not go
// together.
//
// An input does not say which of its findings are repeats. Findings that go away
// are taken from the repeats first and count as resolved then, so that the review
// never looks worse for them; findings that come are new.
func apply(in routing.Input, changes []Change) (routing.Input, bool) {
	in.Routes = maps.Clone(in.Routes)
	if in.Routes == nil {
		in.Routes = make(map[string]int)
	}
	gone, come := 0, 0
	news, stalled := false, 0
	for _, c := range changes {
		switch c.Kind {
		case Findings:
			if in.Routes[c.Destination] != c.Count.From {
				return routing.Input{}, false // another change is about the same findings
			}
			in.Routes[c.Destination] = c.Count.To
			if c.Count.To == 0 {
				delete(in.Routes, c.Destination)
			}
			gone += max(c.Count.From-c.Count.To, 0)
			come = sum(come, max(c.Count.To-c.Count.From, 0))
		case Verification:
			in.Verify = c.Verify.To
		case Cap:
			in.MaxRounds = c.Count.To
		case Round:
			in.Round = c.Count.To
		case News:
			news = true
		case Stall:
			stalled = c.Count.To
		}
	}
	in.FindingCount -= gone
	settle(&in, gone)
	if come > math.MaxInt-in.FindingCount {
		return routing.Input{}, false
	}
	in.FindingCount += come
	in.NewCount += come
	if news {
		if in.RepeatCount == 0 {
			return routing.Input{}, false
		}
		in.RepeatCount--
		in.NewCount++
	}
	return in, restall(&in, stalled)
}

// settle takes findings away.
func settle(in *routing.Input, gone int) {
	repeats := min(gone, in.RepeatCount)
	in.RepeatCount -= repeats
	in.ResolvedCount = sum(in.ResolvedCount, repeats)
	reopened := min(gone-repeats, in.ReopenedCount)
	in.ReopenedCount -= reopened
	in.NewCount -= gone - repeats - reopened
}

// restall makes the row of reviews without progress agree with the findings. A
// change of its length goes only with a review that made no progress.
func restall(in *routing.Input, length int) bool {
	in.NoProgress = in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0
	switch {
	case !in.NoProgress:
		in.StalledRounds = 0
		return length == 0
	case length > 0:
		in.StalledRounds = length
	}
	return true
}

// sum adds counts that are not negative, and stays at the largest number.
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
