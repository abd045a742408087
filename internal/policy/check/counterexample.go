package check

import "github.com/switchyard-dev/switchyard/internal/policy/inputspace"

// Broken returns the invariants that are violated and not waived.
func (r Report) Broken() []string {
	var names []string
	for _, result := range r.Results {
		if result.broken() {
			names = append(names, string(result.Invariant))
		}
	}
	return names
}

func (r Result) broken() bool { return !r.Holds && r.WaivedBy == "" && r.Skipped == "" }

// Simplest returns the violation with the simplest input and its invariant, or nil if no
// violation has an input. Of equally simple ones it returns the first.
func (r Report) Simplest() (*Violation, Invariant) {
	var best *Violation
	var invariant Invariant
	for _, result := range r.Results {
		if !result.broken() {
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
