package routing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Thresholds holds the numbers that a policy's decision depends on. The policy cannot
// distinguish counts between two neighbouring thresholds, so trying the numbers around
// each threshold covers all counts.
type Thresholds struct {
	// Fields holds the whole numbers that the rules compare each field of the input with,
	// sorted and unique. The key "routes" stands for the count of any destination, and
	// "routes.executor" for the count of that one alone. Fields that are not compared are
	// missing. A number that is not whole is represented by the two around it.
	Fields map[string][]int `json:"fields"`
	// Unknown holds the uses of the input that the analysis cannot bound, in source
	// order. If there is one, Fields is incomplete.
	Unknown []Location `json:"unknown"`
}

// Thresholds returns the constants that the policy's rules compare the input's numbers
// with. It reads the compiled rules and evaluates nothing, and errs towards Unknown: a
// number of the input may be compared with constants, and round with max_rounds.
// Arithmetic, a comparison of two other fields, and any other use of a number is unknown.
// Conditions that do not depend on the size of a number are ignored, such as the presence
// of a destination or the verification result. The caller owns the result.
func (p *Policy) Thresholds() Thresholds {
	p.lazyMu.Lock()
	defer p.lazyMu.Unlock()
	if p.thresholds == nil {
		p.thresholds = p.trace()
	}
	t := Thresholds{Fields: maps.Clone(p.thresholds.Fields), Unknown: slices.Clone(p.thresholds.Unknown)}
	for field, numbers := range t.Fields {
		t.Fields[field] = slices.Clone(numbers)
	}
	return t
}

// trace computes the thresholds.
func (p *Policy) trace() *Thresholds {
	t := newThresholdAnalysis(p.compiler)
	t.run()
	found := &Thresholds{Fields: make(map[string][]int), Unknown: []Location{}}
	for field, numbers := range t.fields {
		found.Fields[field] = slices.Sorted(maps.Keys(numbers))
	}
	for loc := range t.unknown {
		found.Unknown = append(found.Unknown, p.location(&ast.Location{File: loc.file, Row: loc.row, Col: loc.col}))
	}
	slices.SortFunc(found.Unknown, func(a, b Location) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col))
	})
	return found
}
