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

// Report is what a replay came to.
type Report struct {
	Candidate routing.Identity `json:"candidate"`
	// Decisions is how many rounds were decided again: those since Since, where it
	// is set, up to the one with the number Through in the ledger, 0 for none.
	Decisions int64  `json:"decisions"`
	Since     string `json:"since,omitzero"`
	Through   int64  `json:"through"`
	// Policies made the recorded decisions, in the order of their first.
	Policies []Used `json:"policies"`
	// Matrix counts the rounds by where they went and where they go now, also those
	// that go where they went.
	Matrix []Cell `json:"matrix"`
	// Reasons counts those that go where they went for another reason.
	Reasons []Cell `json:"reasons"`
	// Flips are the rounds that go elsewhere, at most 1,000 of them, in the order of
	// recording. Omitted counts the others.
	Flips   []Flip `json:"flips"`
	Omitted int64  `json:"omitted,omitzero"`
	// FlipsDigest is "sha256:" and 64 hex digits over all flips, those that are
	// omitted too: a line of JSON each, with task, round, event, from and to.
	FlipsDigest string `json:"flips_digest"`
}

// Used is a policy and how many of the decisions it made.
type Used struct {
	Policy    routing.Identity `json:"policy"`
	Decisions int64            `json:"decisions"`
}

// Cell counts rounds by what they had and what they have now.
type Cell struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int64  `json:"count"`
}

// Flip is a round that goes elsewhere under the candidate.
type Flip struct {
	Task  string `json:"task"`
	Round int    `json:"round"`
	// Event is the number of the event in its task, and At its time.
	Event int64  `json:"event"`
	At    string `json:"at"`
	// From is what was decided and To what would be now: Undecided where the
	// candidate comes to no decision.
	From   routing.Decision `json:"from"`
	To     routing.Decision `json:"to"`
	Causes []Cause          `json:"causes"`
}

// flipped is what FlipsDigest covers of a flip.
type flipped struct {
	Task  string           `json:"task"`
	Round int              `json:"round"`
	Event int64            `json:"event"`
	From  routing.Decision `json:"from"`
	To    routing.Decision `json:"to"`
}

func (f Flip) identity() flipped {
	return flipped{Task: f.Task, Round: f.Round, Event: f.Event, From: f.From, To: f.To}
}

// cells lists a matrix, sorted.
func cells(m map[pair]int64) []Cell {
	list := make([]Cell, 0, len(m))
	for p, n := range m {
		list = append(list, Cell{From: p.from, To: p.to, Count: n})
	}
	slices.SortFunc(list, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}

// Flipped is how many rounds go elsewhere.
func (r Report) Flipped() int64 {
	var n int64
	for _, c := range r.Matrix {
		if c.From != c.To {
			n += c.Count
		}
	}
	return n
}

// Turns are the cells of the matrix that flip, the most frequent first.
func (r Report) Turns() []Cell {
	turns := slices.DeleteFunc(slices.Clone(r.Matrix), func(c Cell) bool { return c.From == c.To })
	slices.SortStableFunc(turns, func(a, b Cell) int { return cmp.Compare(b.Count, a.Count) })
	return turns
}

// maxTold is how many kinds of flips a summary tells apart.
const maxReported = 6

// Summary says it in one line, for a decision record.
func (r Report) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s decided again", textutil.Count(r.Decisions, "recorded decision"))
	if r.Since != "" {
		fmt.Fprintf(&b, ", since %s", r.Since)
	}
	if r.Flipped() == 0 {
		b.WriteString(": none flips")
	} else {
		fmt.Fprintf(&b, ": %s", textutil.Count(r.Flipped(), "flip"))
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
	var reasons int64
	for _, c := range r.Reasons {
		reasons += c.Count
	}
	if reasons > 0 {
		fmt.Fprintf(&b, "; %d for another reason", reasons)
	}
	return b.String()
}

// Digest identifies what was replayed and what came of it: the candidate, the
// rounds and all flips, those that are not listed too. A replay of the same
// candidate over the same rounds, from a ledger that has grown since, gives the same
// digest, if it ends with the event of Through. The texts that people read are no
// part of it.
func (r Report) Digest() string {
	text, err := json.Marshal(struct {
		Format    string `json:"format"`
		Candidate string `json:"candidate"`
		Since     string `json:"since"`
		Through   int64  `json:"through"`
		Decisions int64  `json:"decisions"`
		Policies  []Used `json:"policies"`
		Matrix    []Cell `json:"matrix"`
		Reasons   []Cell `json:"reasons"`
		Flips     string `json:"flips"`
	}{
		"switchyard.replay.v1", r.Candidate.Digest, r.Since, r.Through, r.Decisions, r.Policies, r.Matrix, r.Reasons, r.FlipsDigest,
	}, json.Deterministic(true))
	if err != nil {
		return "" // Cannot happen: a report has been through Add, which marshals its texts.
	}
	return digest.Of(text)
}
