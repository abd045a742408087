package diff

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Decisions compares the decisions of both policies over their common domain, by classes
// of inputs that neither policy distinguishes.
type Decisions struct {
	// States is the number of classes, or 0 if there was nothing to compare with.
	States int `json:"states"`
	// Matrix counts every class by its next actions, including unchanged ones.
	Matrix []Moved `json:"matrix"`
	// Changed are the classes whose next action changes.
	Changed []DecisionChange `json:"flips"`
	// Reasons are the classes that keep their next action and change its reason.
	Reasons []DecisionChange `json:"reasons"`
	// Digest is "sha256:" and 64 hex digits over every class of Changed and Reasons, or ""
	// if there are none. See digestCells for how it is computed.
	Digest string `json:"digest,omitzero"`
}

// step returns the step that the change requires.
func (c DecisionChange) step() Step {
	if c.Stricter || c.ByFacts {
		return Minor
	}
	return Major
}

// Moved is an entry of the matrix.
type Moved struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cells int    `json:"cells"`
}

// DecisionChange groups the classes whose decision changes in the same way.
type DecisionChange struct {
	// From and To are next actions, or routing.Undecided.
	From       string `json:"from"`
	FromReason string `json:"from_reason"`
	To         string `json:"to"`
	ToReason   string `json:"to_reason"`
	// Stricter reports whether the task is now stuck, or waits for a person instead of
	// going to an agent.
	Stricter bool `json:"stricter"`
	// ByFacts reports whether all of these inputs have facts that the previous policy does
	// not see because it has no bar.
	ByFacts bool `json:"by_facts,omitzero"`
	// Confinement lists the confinement levels of these inputs, lowest first. It is nil if
	// they have every level that the policies distinguish.
	Confinement []confinement.Level `json:"confinement,omitzero"`
	Cells       int                 `json:"cells"`
	// Example is the smallest input of these classes (inputspace.Size).
	Example routing.Input `json:"example"`
}

// compareRule asks a rule of both policies about the whole domain.
func compareRule(ctx context.Context, rule routing.Rule, from, to *routing.Policy) (Decisions, []routing.Location, error) {
	shared, err := inputspace.Of(rule, from, to)
	if err != nil {
		return Decisions{}, nil, err
	}
	outcomes, err := askAll(ctx, shared, rule, from, to)
	if err != nil {
		return Decisions{}, nil, err
	}
	t := &tally{levels: levels{}, moved: make(map[Moved]int), changed: make(map[outcome]*DecisionChange), at: make(map[outcome]levels)}
	for i, o := range outcomes {
		in := shared.At(i)
		if rule == routing.BarRule {
			falls := routing.Bar(o.from.NextAction).Above(routing.Bar(o.to.NextAction))
			t.add(in, o, falls, from.HasBar())
		} else {
			t.add(in, o, isStricter(from, to, o), from.HasBar() || !hasFacts(in))
		}
	}
	return t.decisions(), shared.Gaps(), nil
}

// hasFacts reports whether an input has facts that a policy without a bar does not see.
func hasFacts(in routing.Input) bool {
	f := in.Facts
	return f != nil && (f.MayExtend || f.InducedRounds > 0 || f.ReviewsSinceLow > 0 || f.DeferredCount > 0 || f.Confinement != confinement.None)
}

// outcome is the decision of both policies for one class.
type outcome struct{ from, to routing.Decision }

// askAll asks a rule of both policies about every class. It stops at the first error.
func askAll(ctx context.Context, d *inputspace.Domain, rule routing.Rule, from, to *routing.Policy) ([]outcome, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var first sync.Once
	var failure error
	outcomes := make([]outcome, d.Len())
	ask := func(p *routing.Policy, in routing.Input) (routing.Decision, error) {
		d, err := p.AskOnce(ctx, rule, in)
		return routing.OrCode(ctx, d, err)
	}
	d.Each(func(i int) bool {
		o, in := &outcomes[i], d.At(i)
		var err error
		if o.from, err = ask(from, in); err == nil {
			o.to, err = ask(to, in)
		}
		if err != nil {
			first.Do(func() { failure = err })
			stop() // the others fail because of it
		}
		return err == nil
	}, nil)
	return outcomes, failure
}

// isStricter reports whether the task is now stuck, or waits for a person instead of going
// to an agent.
func isStricter(from, to *routing.Policy, o outcome) bool {
	if o.from.NextAction == o.to.NextAction {
		return false
	}
	before, _ := from.Destination(o.from.NextAction)
	now, _ := to.Destination(o.to.NextAction)
	return o.to.NextAction == routing.Stuck || before.Kind == routing.Agent && now.Kind == routing.Human
}

// tally counts classes.
type tally struct {
	levels  levels
	states  int
	moved   map[Moved]int // by an entry without its count
	changed map[outcome]*DecisionChange
	at      map[outcome]levels
	cells   []cell
}

// levels is a set of confinement levels.
type levels map[confinement.Level]bool

func (l levels) add(in routing.Input) {
	if in.Facts != nil {
		l[in.Confinement] = true
	}
}

// add counts a class. seen reports whether the previous policy sees the whole input. Of
// classes of equal size the first is the example.
func (t *tally) add(in routing.Input, o outcome, stricter, seen bool) {
	t.states++
	t.levels.add(in)
	t.moved[Moved{From: o.from.NextAction, To: o.to.NextAction}]++
	if o.from == o.to {
		return
	}
	t.cells = append(t.cells, cell{in, o.from, o.to})
	f, ok := t.changed[o]
	if !ok {
		f = &DecisionChange{
			From: o.from.NextAction, FromReason: o.from.Reason, To: o.to.NextAction, ToReason: o.to.Reason,
			Stricter: stricter, ByFacts: true, Example: in,
		}
		t.changed[o], t.at[o] = f, levels{}
	}
	f.Cells++
	t.at[o].add(in)
	f.ByFacts = f.ByFacts && !seen
	if inputspace.Size(in) < inputspace.Size(f.Example) {
		f.Example = in
	}
}

// decisions returns the counted classes, ordered by name.
func (t *tally) decisions() Decisions {
	d := Decisions{States: t.states, Digest: digestCells(t.cells)}
	for m, cells := range t.moved {
		d.Matrix = append(d.Matrix, Moved{m.From, m.To, cells})
	}
	slices.SortFunc(d.Matrix, func(a, b Moved) int {
		return cmp.Or(strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	for o, f := range t.changed {
		if len(t.at[o]) < len(t.levels) {
			f.Confinement = slices.DeleteFunc(confinement.Levels(), func(l confinement.Level) bool { return !t.at[o][l] })
		}
	}
	for _, f := range slices.SortedFunc(maps.Values(t.changed), compareChanges) {
		if f.From == f.To {
			d.Reasons = append(d.Reasons, *f)
		} else {
			d.Changed = append(d.Changed, *f)
		}
	}
	return d
}

func compareChanges(a, b *DecisionChange) int {
	return cmp.Or(
		strings.Compare(a.From, b.From), strings.Compare(a.To, b.To),
		strings.Compare(a.FromReason, b.FromReason), strings.Compare(a.ToReason, b.ToReason),
	)
}
