package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Report is the result of a replay.
type Report struct {
	Candidate routing.Identity `json:"candidate"`
	// Decisions is the number of rounds decided again: from the time Since, if set, to event
	// number Through of the ledger. Both numbers are 0 if there were no rounds.
	Decisions int64  `json:"decisions"`
	Since     string `json:"since,omitzero"`
	Through   int64  `json:"through"`
	// Policies lists the policies of the recorded decisions, in the order of first use.
	Policies []Used `json:"policies"`
	// Matrix counts the rounds by recorded and new destination, including unchanged ones.
	Matrix []Cell `json:"matrix"`
	// Reasons counts rounds that keep their destination and change the reason.
	Reasons []Cell `json:"reasons"`
	// Bars counts the rounds by recorded bar and the candidate's, if one of the policies has
	// the rule bar. A policy without that rule has the bar all.
	Bars []Cell `json:"bars,omitzero"`
	// Played says how tasks would have ended, or is nil if they were not followed.
	Played *Played `json:"played,omitzero"`
	// Changed lists the changed decisions, at most 1,000, in the order of recording.
	// Omitted counts the others.
	Changed []ChangedDecision `json:"flips"`
	Omitted int64             `json:"omitted,omitzero"`
	// ChangedDigest is "sha256:" and 64 hex digits over all changed decisions, including
	// omitted ones: a line of JSON each, with task, round, event, from and to.
	ChangedDigest string `json:"flips_digest"`
}

// Used is a policy and the number of its decisions.
type Used struct {
	Policy    routing.Identity `json:"policy"`
	Decisions int64            `json:"decisions"`
}

// Cell counts rounds by recorded and new value.
type Cell struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int64  `json:"count"`
}

// ChangedDecision is a round whose decision the candidate changes.
type ChangedDecision struct {
	Task  string `json:"task"`
	Round int    `json:"round"`
	// Event is the number of the event in its task, and At its time.
	Event int64  `json:"event"`
	At    string `json:"at"`
	// From is the recorded decision and To the new one, which is routing.Undecided if the
	// candidate fails.
	From   routing.Decision `json:"from"`
	To     routing.Decision `json:"to"`
	Causes []Cause          `json:"causes"`
}

// cells returns a matrix as a sorted list.
func cells(m map[Cell]int64) []Cell {
	list := make([]Cell, 0, len(m))
	for c, n := range m {
		list = append(list, Cell{c.From, c.To, n})
	}
	slices.SortFunc(list, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}

// ChangedCount returns the number of changed decisions.
func (r Report) ChangedCount() int64 { return countChanged(r.Matrix) }

// countChanged returns the number of rounds whose value changes.
func countChanged(cells []Cell) int64 {
	var n int64
	for _, c := range cells {
		if c.From != c.To {
			n += c.Count
		}
	}
	return n
}

// Turns returns the cells of the matrix with changed decisions, the most frequent first.
func (r Report) Turns() []Cell {
	turns := slices.DeleteFunc(slices.Clone(r.Matrix), func(c Cell) bool { return c.From == c.To })
	slices.SortStableFunc(turns, func(a, b Cell) int { return cmp.Compare(b.Count, a.Count) })
	return turns
}

// maxReported bounds the kinds of changes that a summary lists.
const maxReported = 6

// Summary describes the report in one line, for a decision record.
func (r Report) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s decided again", textutil.Count(r.Decisions, "recorded decision"))
	if r.Since != "" {
		fmt.Fprintf(&b, ", since %s", r.Since)
	}
	if r.ChangedCount() == 0 {
		b.WriteString(": none flips")
	} else {
		fmt.Fprintf(&b, ": %s", textutil.Count(r.ChangedCount(), "flip"))
		turns := r.Turns()
		separator := ", of which "
		for _, c := range turns[:min(len(turns), maxReported)] {
			fmt.Fprintf(&b, "%s%d from %s to %s", separator, c.Count, c.From, c.To)
			separator = ", "
		}
		if more := len(turns) - maxReported; more > 0 {
			fmt.Fprintf(&b, ", and %d other kinds", more)
		}
	}
	if n := countChanged(r.Reasons); n > 0 {
		fmt.Fprintf(&b, "; %d for another reason", n)
	}
	if n := countChanged(r.Bars); n > 0 {
		fmt.Fprintf(&b, "; %d with another bar", n)
	}
	return b.String()
}

// Digest identifies the replay and its result: the candidate, the rounds and all changed
// decisions, including omitted ones. A later replay of the same candidate over the same
// rounds has the same digest if it ends at event Through. Explanatory texts are not
// covered.
func (r Report) Digest() string {
	text, _ := json.Marshal(struct { // cannot fail: the texts come from JSON, so they are UTF-8
		Format    string `json:"format"`
		Candidate string `json:"candidate"`
		Since     string `json:"since"`
		Through   int64  `json:"through"`
		Decisions int64  `json:"decisions"`
		Policies  []Used `json:"policies"`
		Matrix    []Cell `json:"matrix"`
		Reasons   []Cell `json:"reasons"`
		Bars      []Cell `json:"bars,omitzero"`
		Flips     string `json:"flips"`
	}{
		"switchyard.replay.v1", r.Candidate.Digest, r.Since, r.Through, r.Decisions, r.Policies, r.Matrix, r.Reasons, r.Bars, r.ChangedDigest,
	}, json.Deterministic(true))
	return digest.Of(text)
}
