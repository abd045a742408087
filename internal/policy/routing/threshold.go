package routing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Thresholds are the numbers that a policy's decision depends on. Between two of
// them it cannot tell one count from another, so whoever has tried the
// numbers around each has tried them all.
type Thresholds struct {
	// Fields holds, by field of the input, the whole numbers that the rules compare
	// it with, sorted and unique. The key "routes" stands for the count of any
	// destination, and "routes.executor" for the count of that one alone. Fields that are compared with no number are missing. Of a number
	// that is not whole, the two around it are there.
	Fields map[string][]int `json:"fields"`
	// Unknown are the uses of the input that the analysis cannot bound, in the
	// order of the sources. If there is one, Fields does not say all.
	Unknown []Location `json:"unknown"`
}

// Thresholds says what the policy's rules compare the input's numbers with. It
// reads the compiled rules and evaluates nothing, and errs towards Unknown: a
// number of the input may be compared with numbers that are written down, and
// round with max_rounds. Arithmetic, a comparison of two other fields, and
// anything else that is done with a number, is unknown. What does not depend on
// the size of a number is not looked at, as the presence of a destination or the
// outcome of the verification. The result is the caller's.
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

// trace works the thresholds out.
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
