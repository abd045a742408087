package diff

import (
	"fmt"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Step is how large a step in the semantic version a change needs.
type Step string

// The steps, smallest first.
const (
	// None: the meaning is the same, so a new patch version is enough.
	None Step = "none"
	// Minor: what was known goes where it went, or is decided more strictly.
	Minor Step = "minor"
	// Major: something goes elsewhere than before.
	Major Step = "major"
)

// rank orders steps. A step that nobody knows is as large as the largest.
func (s Step) rank() int {
	switch s {
	case None:
		return 0
	case Minor:
		return 1
	default:
		return 2
	}
}

// Step returns the least step in the version that the difference needs, and what
// needs it: at least one reason, and of many the first few, each in one line.
//
// A category or a destination that is new needs a minor version. So do decisions
// that become stricter (see Flip), and such that only change their reason.
// Everything else needs a major one: a category or a destination that is gone or
// changed, another order of precedence, any other decision that flips, and a
// difference that cannot be bounded (see Diff.Gaps). A first version needs none.
func (d Diff) Step() (step Step, because []string) {
	if d.From == nil {
		return None, []string{"it is the first version"}
	}
	var n needs
	d.tableNeeds(&n)
	d.decisionNeeds(&n)
	if d.open() {
		n.add(Major, "the rules use the input in a way that cannot be bounded ("+placeOf(d.Gaps[0])+")")
	}
	return n.largest()
}

func (d Diff) tableNeeds(n *needs) {
	for _, r := range d.Categories.Added {
		n.add(Minor, "category "+shown(r.Category)+" is new")
	}
	for _, r := range d.Categories.Removed {
		n.add(Major, "category "+shown(r.Category)+" is gone")
	}
	for _, r := range d.Categories.Rerouted {
		n.add(Major, "category "+shown(r.Category)+" goes to "+r.To+" and not to "+r.From)
	}
	for _, a := range d.Destinations.Added {
		n.add(Minor, "destination "+a.Name+" is new")
	}
	for _, r := range d.Destinations.Removed {
		n.add(Major, "destination "+r.Name+" is gone")
	}
	for _, c := range d.Destinations.Changed {
		n.add(Major, "destination "+c.Name+" is "+declaration(c.To)+" and not "+declaration(c.From))
	}
	if d.Precedence == nil {
		return
	}
	if d.Precedence.Reordered {
		n.add(Major, "the precedence has another order")
	}
	for _, name := range d.Precedence.dropped() {
		n.add(Major, "the precedence no longer ranks "+name)
	}
	for _, name := range d.Precedence.raised() {
		n.add(Minor, "the precedence now ranks "+name)
	}
}

func (d Diff) decisionNeeds(n *needs) {
	for _, f := range d.Decisions.Flips {
		step := Major
		if f.Stricter {
			step = Minor
		}
		n.add(step, fmt.Sprintf("a task that went to %s (%s) goes to %s (%s)", f.From, f.FromReason, f.To, f.ToReason))
	}
	for _, f := range d.Decisions.Reasons {
		n.add(Minor, fmt.Sprintf("the reason for %s is %s and not %s", f.To, f.ToReason, f.FromReason))
	}
}

// maxNeeds is how many things Step names.
const maxNeeds = 3

// needs collects what needs which step.
type needs struct {
	step Step
	why  []string // of that step
	more int      // of that step, and not in why
}

func (n *needs) add(s Step, why string) {
	if s.rank() > n.step.rank() || n.step == "" {
		*n = needs{step: s}
	}
	switch {
	case s != n.step:
	case len(n.why) < maxNeeds:
		n.why = append(n.why, why)
	default:
		n.more++
	}
}

func (n *needs) largest() (Step, []string) {
	if n.step == "" {
		return None, []string{"nothing changes in meaning"}
	}
	if n.more > 0 {
		return n.step, append(n.why, fmt.Sprintf("and %d more", n.more))
	}
	return n.step, n.why
}

// declaration is a destination in words.
func declaration(d routing.Destination) string {
	round := "keeps the round"
	if d.AdvancesRound {
		round = "begins a round"
	}
	return fmt.Sprintf("%s, %s", d.Kind, round)
}

// placeOf names a place without its folder, which differs from machine to machine.
func placeOf(p routing.Location) string { return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Row) }
