package diff

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Step is the part of the semantic version that a change must increase.
type Step string

// The steps, smallest first.
const (
	// None: the meaning is the same, so a new patch version is enough.
	None Step = "none"
	// Minor: known inputs go to the same place or are decided more strictly.
	Minor Step = "minor"
	// Major: some input goes to another place.
	Major Step = "major"
)

// rank orders steps. An unknown step ranks with the largest.
func (s Step) rank() int {
	smaller := []Step{None, Minor}
	if i := slices.Index(smaller, s); i >= 0 {
		return i
	}
	return len(smaller)
}

// Step returns the smallest step that the difference requires, and the reasons: at least
// one, at most the first few, each in one line.
//
// New categories and destinations require a minor version, and so do decisions that become
// stricter, depend on facts that the previous policy does not see (see DecisionChange for
// both), or only change their reason. Bars are treated like decisions: a lower bar is
// stricter. Any other change requires a major version: a removed or changed category or
// destination, another order of precedence, another decision, or a difference that cannot
// be bounded (see Diff.Gaps). The step of a first version is None.
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
	if len(n) == 0 {
		return None, []string{"nothing changes in meaning"}
	}
	step = slices.MaxFunc(n, func(a, b need) int { return cmp.Compare(a.step.rank(), b.step.rank()) }).step
	for _, need := range n {
		if need.step == step {
			because = append(because, need.why)
		}
	}
	if more := len(because) - maxNeeds; more > 0 {
		because = append(because[:maxNeeds], fmt.Sprintf("and %d more", more))
	}
	return step, because
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
	for _, c := range d.Decisions.Changed {
		n.add(c.step(), fmt.Sprintf("a task that went to %s (%s) goes to %s (%s)", c.From, c.FromReason, c.To, c.ToReason))
	}
	for _, c := range d.Decisions.Reasons {
		n.add(Minor, fmt.Sprintf("the reason for %s is %s and not %s", c.To, c.ToReason, c.FromReason))
	}
	if d.Bars != nil {
		for _, c := range d.Bars.Changed {
			n.add(c.step(), fmt.Sprintf("the bar %s is %s", c.From, c.To))
		}
	}
}

// maxNeeds bounds the reasons that Step returns.
const maxNeeds = 3

// need is a reason for a step.
type need struct {
	step Step
	why  string
}

type needs []need

func (n *needs) add(s Step, why string) { *n = append(*n, need{s, why}) }

// declaration describes a destination.
func declaration(d routing.Destination) string {
	round := "keeps the round"
	if d.AdvancesRound {
		round = "begins a round"
	}
	return fmt.Sprintf("%s, %s", d.Kind, round)
}

// placeOf formats a location without its directory, which differs between machines.
func placeOf(p routing.Location) string { return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Row) }

// firstVersion is the version of a policy without a predecessor.
const firstVersion = "1.0.0"

// NextVersion returns the version after from for a step: the next patch for None, else
// the next minor or major version. If from is "", it returns 1.0.0; if from is not three
// numbers, "".
func NextVersion(from string, s Step) string {
	if from == "" {
		return firstVersion
	}
	v, ok := parseVersion(from)
	if !ok {
		return ""
	}
	switch s {
	case None:
		v = version{v[0], v[1], v[2] + 1}
	case Minor:
		v = version{v[0], v[1] + 1, 0}
	default:
		v = version{v[0] + 1, 0, 0}
	}
	return v.String()
}

// Enough reports whether to may follow from with a change of that step: it must be the
// next patch, minor or major version, without gaps, and not too small a step. If from is
// "", any version of three numbers is accepted. Pre-releases are never accepted.
func Enough(from, to string, s Step) bool {
	if from == "" {
		_, ok := parseVersion(to)
		return ok
	}
	for _, step := range []Step{None, Minor, Major} {
		if to != "" && to == NextVersion(from, step) {
			return step.rank() >= s.rank()
		}
	}
	return false
}

// version is the major, minor and patch number.
type version [3]uint64

func parseVersion(s string) (v version, ok bool) {
	_, err := fmt.Sscanf(s, "%d.%d.%d", &v[0], &v[1], &v[2])
	return v, err == nil && slices.Max(v[:]) <= math.MaxUint32 && v.String() == s // no sign, no leading zero
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
