package policies

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// Verify is the outcome of the project's own verification in this round.
type Verify string

// The outcomes of a verification.
const (
	// Green: it ran and passed.
	Green Verify = "green"
	// Red: it ran and failed.
	Red Verify = "red"
	// Absent: the project has none, or it did not run.
	Absent Verify = "absent"
)

// MaxRoundsLimit is the highest cap on rounds that a task may have.
const MaxRoundsLimit = 100

// Input is everything that a policy sees of a round. It is a summary: a policy
// counts findings and never reads them.
type Input struct {
	// Round counts from 1. It may be over the cap, where the cap was lowered.
	Round int `json:"round"`
	// MaxRounds is the cap, from 1 to MaxRoundsLimit.
	MaxRounds int `json:"max_rounds"`
	// FindingCount is the number of open findings: the sum of Routes.
	FindingCount int `json:"finding_count"`
	// Routes is the number of findings for each destination. Destinations
	// without findings may be left out.
	Routes map[string]int `json:"routes"`
	Verify Verify         `json:"verify"`
}

// check holds in against its own rules and against the policy's tables. An
// input that contradicts itself must not reach a rule that could make
// something of it.
func (in Input) check(t tables) error {
	wrong := func(field string, value any, format string, args ...any) error {
		return fault.New(CodeInvalidInput, "policy input: %s %s", field, fmt.Sprintf(format, args...)).
			With("field", field).
			With("value", value)
	}
	switch {
	case in.Round < 1:
		return wrong("round", in.Round, "must be at least 1")
	case in.MaxRounds < 1 || in.MaxRounds > MaxRoundsLimit:
		return wrong("max_rounds", in.MaxRounds, "must be from 1 to %d", MaxRoundsLimit)
	case in.FindingCount < 0:
		return wrong("finding_count", in.FindingCount, "must not be negative")
	case in.Verify != Green && in.Verify != Red && in.Verify != Absent:
		return wrong("verify", in.Verify, "must be green, red or absent")
	}
	left := in.FindingCount
	for name, n := range in.Routes {
		switch {
		case n < 0:
			return wrong("routes", in.Routes, "must not count below 0 for %q", name)
		case !t.takesFindings(name):
			return wrong("routes", in.Routes, "must not count for %q, where the policy sends no finding", name)
		case n > left:
			return wrong("routes", in.Routes, "must add up to finding_count, %d", in.FindingCount)
		}
		left -= n
	}
	if left > 0 {
		return wrong("routes", in.Routes, "must add up to finding_count, %d", in.FindingCount)
	}
	return nil
}

// value is in as the policy sees it. Building it directly spares a trip through
// JSON.
func (in Input) value() ast.Value {
	routes := ast.NewObject()
	for name, n := range in.Routes {
		routes.Insert(ast.StringTerm(name), ast.IntNumberTerm(n))
	}
	return ast.NewObject(
		ast.Item(ast.StringTerm("round"), ast.IntNumberTerm(in.Round)),
		ast.Item(ast.StringTerm("max_rounds"), ast.IntNumberTerm(in.MaxRounds)),
		ast.Item(ast.StringTerm("finding_count"), ast.IntNumberTerm(in.FindingCount)),
		ast.Item(ast.StringTerm("routes"), ast.NewTerm(routes)),
		ast.Item(ast.StringTerm("verify"), ast.StringTerm(string(in.Verify))),
	)
}
