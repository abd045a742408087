package explain

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Kind is the part of the input that a change is about.
type Kind string

// The kinds of change. The cost of changing a number is the difference.
const (
	// Findings: a destination has fewer or more findings.
	Findings Kind = "findings"
	// Verification: the verification result is different. It costs 1.
	Verification Kind = "verification"
	// Cap: the round cap is higher or lower.
	Cap Kind = "cap"
	// Round: the round is earlier or later. This is tried only if the policy compares the
	// round with a constant: to reach the cap or not, the cap is changed.
	Round Kind = "round"
	// News: one of the findings is new instead of a repeat. It costs 1.
	News Kind = "news"
	// Stall: fewer or more consecutive reviews made no progress.
	Stall Kind = "stall"
	// Fact: a fact that only policies with a bar see is different: whether the task may go
	// past its cap, which costs 1, the confinement level, or the induced rounds.
	Fact Kind = "fact"
)

// Change is one change of an input.
type Change struct {
	Kind Kind `json:"kind"`
	// Destination is the destination of the findings, "" for other kinds.
	Destination string `json:"destination,omitzero"`
	// Fact is the field of the input, "" for other kinds.
	Fact string `json:"fact,omitzero"`
	// Count is the number that changes: findings for the destination, the cap, the round,
	// new findings, stalled rounds or the fact. A false fact counts as 0 and a true one as
	// 1; a confinement level counts the lower levels. Count is nil for Verification.
	Count *Count `json:"count,omitzero"`
	// Verify is nil for every kind but Verification.
	Verify *Verify `json:"verify,omitzero"`
	// Words describes the change, such as "without the 2 findings for researcher".
	Words string `json:"words"`
}

// Count is a number before and after a change.
type Count struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Verify is the verification result before and after a change.
type Verify struct {
	From routing.Verify `json:"from"`
	To   routing.Verify `json:"to"`
}

// cost returns the size of the change, at least 1.
func (c Change) cost() int {
	if c.Count == nil {
		return 1
	}
	return c.Count.distance()
}

func (c Count) distance() int { return max(c.To-c.From, c.From-c.To) }

// apply returns in with all of the changes, or false if they conflict.
//
// An input does not say which of its findings are repeats. Repeats are removed first and
// then count as resolved, so that fewer findings never look like less progress. Added
// findings are new.
func apply(in routing.Input, changes []Change) (routing.Input, bool) {
	in.Routes = maps.Clone(in.Routes)
	if in.Routes == nil {
		in.Routes = make(map[string]int)
	}
	gone, come := 0, 0
	news, stalled := false, 0
	var facts []Change
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
		case Fact:
			facts = append(facts, c)
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
	in.Facts = reconcile(in)
	ok := restall(&in, stalled) && setFacts(in, facts)
	return in, ok
}

// setFacts sets the facts of an input. It reports false if the rest contradicts them.
func setFacts(in routing.Input, facts []Change) bool {
	for _, c := range facts {
		switch c.Fact {
		case confinementLevel:
			in.Facts.Confinement = confinement.Levels()[c.Count.To]
		case mayExtend:
			in.Facts.MayExtend = c.Count.To > 0
			if in.MayExtend && (in.RoundsLeft == 0 || !in.Productive()) {
				return false
			}
		case inducedRounds:
			in.Facts.InducedRounds = c.Count.To
			if in.InducedRounds > 0 && in.BlockingCount == 0 {
				return false
			}
			if in.InducedCount == nil || *in.InducedCount < in.BlockingCount {
				in.Facts.InducedCount = &in.Facts.BlockingCount
			}
		}
	}
	return true
}

// The facts that a Change can be about.
const (
	mayExtend        = "may_extend"
	inducedRounds    = "induced_rounds"
	confinementLevel = "confinement"
)

// settle removes findings.
func settle(in *routing.Input, gone int) {
	repeats := min(gone, in.RepeatCount)
	in.RepeatCount -= repeats
	in.ResolvedCount = sum(in.ResolvedCount, repeats)
	reopened := min(gone-repeats, in.ReopenedCount)
	in.ReopenedCount -= reopened
	in.NewCount -= gone - repeats - reopened
}

// restall makes the stalled rounds agree with the findings. Their number can change only
// for a review without progress.
func restall(in *routing.Input, length int) bool {
	in.NoProgress = in.IsStalled()
	switch {
	case !in.NoProgress:
		in.StalledRounds = 0
		return length == 0
	case length > 0:
		in.StalledRounds = length
	}
	return true
}

// sum adds two non-negative counts and saturates instead of overflowing.
func sum(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// Words describes all of the changes, such as "without the 2 findings for researcher and
// with a green verification".
func (f Counterfactual) Words() string {
	var words []string
	emptied, gone := 0, 0 // destinations, and the findings that they had
	for _, c := range f.Changes {
		if c.Kind == Findings && c.Count.To == 0 {
			emptied++
			gone += c.Count.From
		}
	}
	// If all findings are removed, a list of them would only be longer.
	none := emptied > 1 && f.Input.FindingCount == 0
	if none {
		words = append(words, fmt.Sprintf("without any of the %d findings", gone))
	}
	for _, c := range f.Changes {
		if !none || c.Kind != Findings {
			words = append(words, c.Words)
		}
	}
	return strings.Join(words, " and ")
}

func (c Change) words() string {
	switch c.Kind {
	case Findings:
		return findingsWords(c.Destination, c.Count.From, c.Count.To)
	case Verification:
		if c.Verify.To == routing.Absent {
			return "without a verification"
		}
		return "with a " + string(c.Verify.To) + " verification"
	case Cap:
		return "with a cap of " + textutil.Count(c.Count.To, "round")
	case Round:
		return fmt.Sprintf("in round %d", c.Count.To)
	case Fact:
		return factWords(c)
	case News:
		return "with a new finding in place of a repeated one"
	default:
		return "after " + textutil.Count(c.Count.To, "review") + " without progress"
	}
}

func findingsWords(destination string, from, to int) string {
	switch {
	case to == 0 && from == 1:
		return "without the finding for " + destination
	case to == 0:
		return fmt.Sprintf("without the %d findings for %s", from, destination)
	case to < from:
		return fmt.Sprintf("without %d of the %d findings for %s", from-to, from, destination)
	case from == 0 && to == 1:
		return "with a finding for " + destination
	case from == 0:
		return fmt.Sprintf("with %d findings for %s", to, destination)
	default:
		return "with " + textutil.Count(to-from, "more finding") + " for " + destination
	}
}
