// Package check exhaustively checks a policy over its input space.
//
// A policy's inputs fall into finitely many classes (package inputspace). Verify has the
// policy decide one input of each class and another one drawn from the same class, and
// checks every decision against invariants: that there is exactly one, that only a clean
// round commits, that the loop ends, and so on. It also checks that the decisions reach
// every row of the tables and every branch of the rules. A decision record can waive some
// of the invariants.
//
// docs/proof.md is the page for users.
package check

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/inputspace"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxViolations bounds the violations that a Result lists for each invariant.
const MaxViolations = 10

// Options are the options of Verify. The zero value is usable.
type Options struct {
	// Raised lists by category the agents, the plugins and the parts of the host that raise
	// it. Nil means unknown; the invariants about it are then skipped.
	Raised map[string][]string
	// Waivers are the invariants that the policy's decision record waives.
	Waivers []Waiver
	// Progress, if not nil, is called now and then with the number of decided inputs and
	// the total, and once when all are decided. Calls are not concurrent and come from
	// goroutines of Verify.
	Progress func(done, total int)
}

// Waiver is an invariant that, according to a decision record, the policy may violate.
type Waiver struct {
	Invariant Invariant `json:"invariant"`
	// ADR names the record, Reason is why.
	ADR    string `json:"adr"`
	Reason string `json:"reason"`
	// Proposed reports that the record is not accepted yet. The invariant then stays
	// violated, and the report names the record.
	Proposed bool `json:"proposed,omitzero"`
}

// Report lists what was checked and violated. Except for Millis, it is deterministic for
// a policy and options.
type Report struct {
	Policy routing.Identity `json:"policy"`
	// States is the number of input classes, each represented by its smallest input.
	// Probes is the number of further samples of classes that were decided.
	States int `json:"states"`
	Probes int `json:"probes"`
	// BarStates is the number of input classes of rule bar. One sample of each was tried.
	BarStates int `json:"bar_states,omitzero"`
	// Branches is the number of branches of rules decision and bar, Categories the number
	// of rows of the route table.
	Branches   int `json:"rungs"`
	Categories int `json:"categories"`
	// Millis is the duration in milliseconds.
	Millis int64 `json:"millis"`
	// Results has every invariant that the policy can violate, in the order of Invariants.
	Results []Result `json:"results"`
	// Gaps are the locations at which the policy uses its input in a way that cannot be
	// bounded. Each is also a violation of Classes.
	Gaps []routing.Location `json:"gaps"`
}

// Result is the result for one invariant.
type Result struct {
	Invariant Invariant `json:"invariant"`
	// Says describes the invariant in words.
	Says     string `json:"says"`
	Waivable bool   `json:"waivable"`
	// Holds reports whether it was checked and not violated.
	Holds bool `json:"holds"`
	// Checked is the number of inputs, branches or rows checked against it.
	Checked int `json:"checked"`
	// WaivedBy is the record that allows the violations, if there are any and it does.
	WaivedBy string `json:"waived_by,omitzero"`
	// ProposedBy is the record that will allow them once it is accepted.
	ProposedBy string `json:"proposed_by,omitzero"`
	// Skipped is the reason why it was not checked, or "". A skipped invariant neither
	// holds nor is violated.
	Skipped string `json:"skipped,omitzero"`
	// Violated is the number of violations. Violations has the simplest MaxViolations of
	// them, in order.
	Violated   int         `json:"violated"`
	Violations []Violation `json:"violations"`
}

// Violation is one violation of an invariant.
type Violation struct {
	Message string `json:"message"`
	// Location is the policy's line that causes it, if known.
	Location *routing.Location `json:"place,omitzero"`
	// Input is the decided input, in the form that switchyard route --input reads. It is
	// nil if the violation is not about a decision or a bar.
	Input *routing.Input `json:"input,omitzero"`
	// Decision is the policy's decision. It is nil if the policy failed or the host rejects
	// the decision; then Code is the error code.
	Decision *routing.Decision `json:"decision,omitzero"`
	Code     errs.Code         `json:"code,omitzero"`
	// Bar is the policy's bar, if the violation is about that.
	Bar routing.Bar `json:"bar,omitzero"`
	// Other is the other input of the same class, if both are decided differently.
	Other *Answer `json:"other,omitzero"`
}

// Answer is an input and its result, as in Violation.
type Answer struct {
	Input    routing.Input     `json:"input"`
	Decision *routing.Decision `json:"decision,omitzero"`
	Code     errs.Code         `json:"code,omitzero"`
}

// Passes reports whether every violation is allowed by a decision record. Skipped
// invariants are ignored.
func (r Report) Passes() bool {
	return len(r.Results) > 0 && !slices.ContainsFunc(r.Results, Result.isBroken)
}

// Broken returns the invariants that are violated and not waived.
func (r Report) Broken() []string {
	var names []string
	for _, result := range r.Results {
		if result.isBroken() {
			names = append(names, string(result.Invariant))
		}
	}
	return names
}

func (r Result) isBroken() bool { return r.Violated > 0 && r.WaivedBy == "" }

// Simplest returns the violation with the simplest input and its invariant, or nil if no
// violation has an input. Of equally simple ones it returns the first.
func (r Report) Simplest() (*Violation, Invariant) {
	var best *Violation
	var invariant Invariant
	for _, result := range r.Results {
		if !result.isBroken() {
			continue
		}
		for i, v := range result.Violations {
			if v.Input != nil && (best == nil || inputspace.Size(*v.Input) < inputspace.Size(*best.Input)) {
				best, invariant = &result.Violations[i], result.Invariant
			}
		}
	}
	return best, invariant
}
