package check

import "slices"

// Invariant names a property that every policy must have. The names are stable.
type Invariant string

// Invariants that no decision record can waive: without them the loop is not safe, or the
// check says nothing.
const (
	// Total: every input gets exactly one decision.
	Total Invariant = "total"
	// CleanCommits: a round without findings whose verification is not red commits.
	CleanCommits Invariant = "clean-commits"
	// OnlyCleanCommits: nothing else commits.
	OnlyCleanCommits Invariant = "only-clean-commits"
	// Declared: no decision and no category leads to an undeclared destination.
	Declared Invariant = "declared"
	// StuckStrongest: a finding that goes to stuck ends the loop, whatever other findings
	// there are.
	StuckStrongest Invariant = "stuck-strongest"
	// Ends: the last round ends the loop.
	Ends Invariant = "ends"
	// Classes: the policy decides all inputs of one class alike, so that one input of
	// each class covers all.
	Classes Invariant = "classes"
)

// Invariants that a decision record may waive.
const (
	// HumanFirst: no agent is started while a finding waits for a person.
	HumanFirst Invariant = "human-first"
	// PrecedenceRespected: a decision for findings goes to the strongest destination that
	// has any.
	PrecedenceRespected Invariant = "precedence-kept"
	// NoDeadRow: every destination is reached.
	NoDeadRow Invariant = "no-dead-row"
	// NoShadowedRule: every branch of rule decision decides some input.
	NoShadowedRule Invariant = "no-shadowed-rule"
	// CategoryRaised: every category of the route table is raised by an agent or the
	// host.
	CategoryRaised Invariant = "category-raised"
	// CategoryKnown: every category that is raised is in the route table.
	CategoryKnown Invariant = "category-known"
)

// rule describes an invariant.
type rule struct {
	invariant Invariant
	says      string
	waivable  bool
}

// rules lists the invariants in report order.
func rules() []rule {
	return []rule{
		{Total, "every input comes to exactly one decision", false},
		{CleanCommits, "a round without findings commits, unless its verification is red", false},
		{OnlyCleanCommits, "nothing else commits", false},
		{Declared, "every decision and every category leads to a declared destination", false},
		{StuckStrongest, "a finding for stuck ends the loop, whatever else there is", false},
		{Ends, "with findings or red verification, a round at or above the cap ends the loop", false},
		{Classes, "inputs of one class are decided alike", false},
		{HumanFirst, "no agent is sent off while a finding waits for a person", true},
		{PrecedenceRespected, "a decision for findings is for the strongest destination that has any", true},
		{NoDeadRow, "every destination is reached", true},
		{NoShadowedRule, "every branch of decision decides something", true},
		{CategoryRaised, "every category of the route table is raised by somebody", true},
		{CategoryKnown, "every category that somebody raises is in the route table", true},
	}
}

// find returns the rule of the invariant.
func (i Invariant) find() (rule, bool) {
	all := rules()
	at := slices.IndexFunc(all, func(r rule) bool { return r.invariant == i })
	if at < 0 {
		return rule{}, false
	}
	return all[at], true
}

// Invariants lists every invariant, in the order of Report.Results. The caller owns the
// slice.
func Invariants() []Invariant {
	var names []Invariant
	for _, r := range rules() {
		names = append(names, r.invariant)
	}
	return names
}

// Says describes the invariant in words; it returns "" for an unknown name.
func (i Invariant) Says() string {
	r, _ := i.find()
	return r.says
}

// Waivable reports whether a decision record may waive the invariant.
func (i Invariant) Waivable() bool {
	r, _ := i.find()
	return r.waivable
}
