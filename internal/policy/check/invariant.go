package check

// Invariant names a property that every policy must have. The names are stable.
type Invariant string

// The invariants, as described by rules.
const (
	Total               Invariant = "total"
	CleanCommits        Invariant = "clean-commits"
	OnlyCleanCommits    Invariant = "only-clean-commits"
	Declared            Invariant = "declared"
	StuckStrongest      Invariant = "stuck-strongest"
	Ends                Invariant = "ends"
	Classes             Invariant = "classes"
	HumanFirst          Invariant = "human-first"
	PrecedenceRespected Invariant = "precedence-kept"
	NoDeadRow           Invariant = "no-dead-row"
	NoShadowedRule      Invariant = "no-shadowed-rule"
	CategoryRaised      Invariant = "category-raised"
	CategoryKnown       Invariant = "category-known"

	// For a policy with a rule bar.
	BarMonotone       Invariant = "bar-monotone"
	FailNeverDeferred Invariant = "fail-never-deferred"
)

// rule describes an invariant.
type rule struct {
	invariant Invariant
	says      string
	waivable  bool // by a decision record; the others make the loop safe, or the check conclusive
	bar       bool // only for policies with a bar
}

// rules lists the invariants in report order.
func rules() []rule {
	return []rule{
		{Total, "every input comes to exactly one decision", false, false},
		{CleanCommits, "a round without findings commits, unless its verification is red or a report is not fully confined", false, false},
		{OnlyCleanCommits, "nothing else commits", false, false},
		{Declared, "every decision and every category leads to a declared destination", false, false},
		{StuckStrongest, "a finding for stuck ends the loop, whatever else there is", false, false},
		{Ends, "with findings or red verification, a round at or above the cap ends the loop", false, false},
		{Classes, "inputs of one class are decided alike", false, false},
		{HumanFirst, "no agent runs while a finding waits for a person", true, false},
		{PrecedenceRespected, "a decision for findings is for the strongest destination that has any", true, false},
		{NoDeadRow, "every destination is reached", true, false},
		{NoShadowedRule, "every branch of decision decides something", true, false},
		{CategoryRaised, "every category of the route table is raised by an agent or a plugin", true, false},
		{CategoryKnown, "every raised category is in the route table", true, false},
		{FailNeverDeferred, "every input comes to exactly one bar, and none defers a finding of severity fail", false, true},
		{BarMonotone, "the bar does not fall while more reviews find no less than before", false, true},
	}
}

// rule returns the rule of the invariant, or the zero value for an unknown name.
func (i Invariant) rule() rule {
	for _, r := range rules() {
		if r.invariant == i {
			return r
		}
	}
	return rule{}
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
func (i Invariant) Says() string { return i.rule().says }

// Waivable reports whether a decision record may waive the invariant.
func (i Invariant) Waivable() bool { return i.rule().waivable }
