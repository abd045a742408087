package diff

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Undecided stands where a next action would, for an input that a policy fails
// on. It is not the name of a destination that a decision could have: the reason
// beside it is the error's code.
const Undecided = "undecided"

// Decisions is how both policies decide the domain that they share. Its unit is
// the cell, a class of inputs that neither tells apart.
type Decisions struct {
	// States is the number of all cells, 0 where there was nothing to compare with.
	States int `json:"states"`
	// Matrix counts every cell by its next actions, those that stay the same too.
	Matrix []Moved `json:"matrix"`
	// Flips are the cells whose next action changes.
	Flips []Flip `json:"flips"`
	// Reasons are the cells that keep their next action and change its reason.
	Reasons []Flip `json:"reasons"`
	// Digest is "sha256:" and 64 hex digits over every cell of Flips and Reasons, ""
	// where there is none. The file digest.go tells how it is made.
	Digest string `json:"digest,omitzero"`
}

// Moved is an entry of the matrix.
type Moved struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cells int    `json:"cells"`
}

// Flip is all cells that change in the same way.
type Flip struct {
	// From and To are next actions, or Undecided.
	From       string `json:"from"`
	FromReason string `json:"from_reason"`
	To         string `json:"to"`
	ToReason   string `json:"to_reason"`
	// Stricter says that the task now ends, or waits for a person instead of going
	// to an agent.
	Stricter bool `json:"stricter"`
	Cells    int  `json:"cells"`
	// Example is the smallest input of them (inputspace.Size).
	Example routing.Input `json:"example"`
}

// compareDecisions decides the whole domain under both policies.
func compareDecisions(ctx context.Context, from, to *routing.Policy) (Decisions, []routing.Location, error) {
	shared, err := inputspace.Of(from, to)
	if err != nil {
		return Decisions{}, nil, err
	}
	outcomes, err := decideAll(ctx, shared, from, to)
	if err != nil {
		return Decisions{}, nil, err
	}
	t := newTally()
	for i, o := range outcomes {
		t.add(shared.At(i), o, isStricter(from, to, o))
	}
	return t.decisions(), shared.Gaps(), nil
}

// outcome is how both policies decide one cell.
type outcome struct{ from, to routing.Decision }

// decideAll decides every class under both policies. The first error ends it.
func decideAll(ctx context.Context, d *inputspace.Domain, from, to *routing.Policy) ([]outcome, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var first sync.Once
	var failure error
	outcomes := make([]outcome, d.Len())
	d.Each(func(i int) bool {
		var err error
		if outcomes[i], err = decideBoth(ctx, from, to, d.At(i)); err != nil {
			first.Do(func() { failure = err })
			stop() // the others fail because of it
		}
		return err == nil
	}, nil)
	return outcomes, failure
}

func decideBoth(ctx context.Context, from, to *routing.Policy, in routing.Input) (outcome, error) {
	before, err := decide(ctx, from, in)
	if err != nil {
		return outcome{}, err
	}
	now, err := decide(ctx, to, in)
	return outcome{before, now}, err
}

// decide is p's decision, or Undecided. A policy that is slow for one input may
// be so for all of them, and whether it is can change from run to run; and an
// input that is refused was never asked. Those are errors.
func decide(ctx context.Context, p *routing.Policy, in routing.Input) (routing.Decision, error) {
	d, err := p.DecideRetrying(ctx, in)
	if err == nil {
		return d, nil
	}
	code := errs.CodeOf(err)
	if ctx.Err() != nil || code == errs.PolicyTimeout || code == errs.PolicyInvalidInput {
		return routing.Decision{}, err
	}
	return routing.Decision{NextAction: Undecided, Reason: string(code)}, nil
}

// isStricter says that a task goes where less can go wrong without a person.
func isStricter(from, to *routing.Policy, o outcome) bool {
	if o.from.NextAction == o.to.NextAction {
		return false
	}
	before, _ := from.Destination(o.from.NextAction)
	now, _ := to.Destination(o.to.NextAction)
	return o.to.NextAction == routing.Stuck || before.Kind == routing.Agent && now.Kind == routing.Human
}

// tally counts cells.
type tally struct {
	states int
	moved  map[Moved]int // by an entry without its count
	flips  map[outcome]*Flip
	cells  []cell
}

func newTally() *tally {
	return &tally{moved: make(map[Moved]int), flips: make(map[outcome]*Flip)}
}

// add counts a cell. Of cells of one size the one that is added first is the
// example.
func (t *tally) add(in routing.Input, o outcome, stricter bool) {
	t.states++
	t.moved[Moved{From: o.from.NextAction, To: o.to.NextAction}]++
	if o.from == o.to {
		return
	}
	t.cells = append(t.cells, cell{in, o.from, o.to})
	f, ok := t.flips[o]
	if !ok {
		f = &Flip{
			From: o.from.NextAction, FromReason: o.from.Reason, To: o.to.NextAction, ToReason: o.to.Reason,
			Stricter: stricter, Example: in,
		}
		t.flips[o] = f
	}
	f.Cells++
	if inputspace.Size(in) < inputspace.Size(f.Example) {
		f.Example = in
	}
}

// decisions is what was counted, in the order of the names.
func (t *tally) decisions() Decisions {
	d := Decisions{States: t.states, Digest: digestCells(t.cells)}
	for m, cells := range t.moved {
		d.Matrix = append(d.Matrix, Moved{m.From, m.To, cells})
	}
	slices.SortFunc(d.Matrix, func(a, b Moved) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	for _, f := range slices.SortedFunc(maps.Values(t.flips), compareFlips) {
		if f.From == f.To {
			d.Reasons = append(d.Reasons, *f)
		} else {
			d.Flips = append(d.Flips, *f)
		}
	}
	return d
}

func compareFlips(a, b *Flip) int {
	return cmp.Or(
		strings.Compare(a.From, b.From), strings.Compare(a.To, b.To),
		strings.Compare(a.FromReason, b.FromReason), strings.Compare(a.ToReason, b.ToReason),
	)
}
