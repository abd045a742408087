// Package check checks a policy over everything that it can be asked.
//
// A policy's input falls into finitely many classes (package domain). Verify has
// the policy decide one input of each, and another one drawn from the same class,
// and checks every decision against invariants: that there is exactly one, that
// only a clean round commits, that the loop ends, and so on. The tables and the
// rules are checked against what the decisions reached. What an ADR may waive is told
// apart from what it may not.
//
// docs/proof.md is the page for users.
package check

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxViolations is how many violations a Result keeps of each invariant.
const MaxViolations = 10

// Options are what Verify needs besides the policy. The zero value is usable.
type Options struct {
	// Raised says who raises a category: for every category that some agent's
	// definition or the host names, their names. Nil means that nobody knows; then
	// the invariants about it are skipped.
	Raised map[string][]string
	// Waivers are the invariants that the policy's decision record waives.
	Waivers []Waiver
	// Progress, if it is not nil, is told now and then how many inputs of how many
	// are decided, at last that all are. Calls come one at a time, from goroutines
	// of Verify's.
	Progress func(done, total int)
}

// Waiver is an invariant that a decision record says the policy may break.
type Waiver struct {
	Invariant Invariant `json:"invariant"`
	// ADR names the record, Reason is why.
	ADR    string `json:"adr"`
	Reason string `json:"reason"`
	// Proposed says that the record is not accepted yet. The invariant then stays
	// broken, and the report says who would waive it.
	Proposed bool `json:"proposed,omitzero"`
}

// Report says what was checked and what did not hold. But for Millis, the same
// policy and options always give the same report.
type Report struct {
	Policy routing.Identity `json:"policy"`
	// States is the number of classes of inputs, each of which was decided for the
	// smallest of its inputs. Probes is how many other members of classes were.
	States int `json:"states"`
	Probes int `json:"probes"`
	// Rungs is the number of branches of rule decision, Categories that of rows of
	// the route table.
	Rungs      int `json:"rungs"`
	Categories int `json:"categories"`
	// Millis is how long it took, in milliseconds.
	Millis int64 `json:"millis"`
	// Results has every invariant, in the order of Invariants.
	Results []Result `json:"results"`
	// Gaps are where the policy uses its input in a way that cannot be bounded. Each
	// is also a violation of Classes.
	Gaps []routing.Location `json:"gaps"`
}

// Result is what became of one invariant.
type Result struct {
	Invariant Invariant `json:"invariant"`
	// Says is the invariant in words.
	Says     string `json:"says"`
	Waivable bool   `json:"waivable"`
	// Holds says that it was checked and that nothing breaks it.
	Holds bool `json:"holds"`
	// Checked is how many inputs, branches or rows were checked against it.
	Checked int `json:"checked"`
	// WaivedBy is the record that allows the violations, "" where there are none or
	// they are not allowed.
	WaivedBy string `json:"waived_by,omitzero"`
	// ProposedBy is the record that will allow them once it is accepted.
	ProposedBy string `json:"proposed_by,omitzero"`
	// Skipped says why it was not checked, "" where it was. What was skipped neither
	// holds nor is violated.
	Skipped string `json:"skipped,omitzero"`
	// Violated is how many violations there are. Violations has the simplest
	// MaxViolations of them, the simplest first.
	Violated   int         `json:"violated"`
	Violations []Violation `json:"violations"`
}

// Violation is one thing that breaks an invariant.
type Violation struct {
	Message string `json:"message"`
	// Location is the line of the policy that is to blame, if one is.
	Location *routing.Location `json:"place,omitzero"`
	// Input is what the policy was asked, nil if the violation is not about a
	// decision. It is as switchyard route --input reads it.
	Input *routing.Input `json:"input,omitzero"`
	// Decision is what the policy answered, nil if it did not come to a decision
	// that the host accepts. Then Code says why.
	Decision *routing.Decision `json:"decision,omitzero"`
	Code     errs.Code         `json:"code,omitzero"`
	// Other is the other input of the same class, where that is what is wrong.
	Other *Answer `json:"other,omitzero"`
}

// Answer is an input and what the policy made of it, as in Violation.
type Answer struct {
	Input    routing.Input     `json:"input"`
	Decision *routing.Decision `json:"decision,omitzero"`
	Code     errs.Code         `json:"code,omitzero"`
}

// Proven says that nothing breaks an invariant but what a decision record allows
// to. Invariants that were skipped are not counted.
func (r Report) Proven() bool {
	for _, result := range r.Results {
		if result.Violated > 0 && result.WaivedBy == "" {
			return false
		}
	}
	return len(r.Results) > 0
}
