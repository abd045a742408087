package routing

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/errs"
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
	// without findings may be left out, and a policy never sees them: it must not
	// make a difference how a caller says that there are none.
	Routes map[string]int `json:"routes"`
	Verify Verify         `json:"verify"`

	// The rest compares this review with the task's earlier ones (ADR-0003).
	// Findings are the same where their fingerprints are. A caller that knows no
	// past sends every finding as new.

	// NewCount is the number of findings that the task never had before.
	NewCount int `json:"new_count"`
	// RepeatCount is the number of findings that the task's previous review had
	// too.
	RepeatCount int `json:"repeat_count"`
	// ReopenedCount is the number of findings that the task had before, but not in
	// its previous review: they were gone and came back. Every finding is new, a
	// repeat or reopened.
	ReopenedCount int `json:"reopened_count"`
	// ResolvedCount is the number of findings of the previous review that this one
	// no longer has.
	ResolvedCount int `json:"resolved_count"`
	// NoProgress is true exactly where there are findings, all are repeats, and
	// nothing was resolved.
	NoProgress bool `json:"no_progress"`
	// StalledRounds is how many reviews in a row, this one included, made no
	// progress. It is 0 exactly where NoProgress is false.
	StalledRounds int `json:"stalled_rounds"`
}

// check checks in against its own rules and against the policy's tables. An
// input that contradicts itself must not reach a rule that could make
// something of it.
func (in Input) check(t tables) error {
	wrong := func(field string, value any, format string, args ...any) error {
		return errs.New(errs.PolicyInvalidInput, "policy input: %s %s", field, fmt.Sprintf(format, args...)).
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
	if err := in.checkRoutes(t, wrong); err != nil {
		return err
	}
	return in.checkPast(wrong)
}

// refusal is the error over one field of an input.
type refusal func(field string, value any, format string, args ...any) error

// checkRoutes wants the routes to add up. It subtracts, because a sum could
// overflow.
func (in Input) checkRoutes(t tables, wrong refusal) error {
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

// checkPast wants the comparison with earlier reviews to agree with itself and
// with the findings.
func (in Input) checkPast(wrong refusal) error {
	left := in.FindingCount
	for _, part := range []struct {
		field string
		n     int
	}{{"new_count", in.NewCount}, {"repeat_count", in.RepeatCount}, {"reopened_count", in.ReopenedCount}} {
		switch {
		case part.n < 0:
			return wrong(part.field, part.n, "must not be negative")
		case part.n > left:
			return wrong(part.field, part.n, "makes more findings than finding_count, %d", in.FindingCount)
		}
		left -= part.n
	}
	stalled := in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0
	switch {
	case left > 0:
		return wrong("new_count", in.NewCount, "must add up to finding_count, %d, with repeat_count and reopened_count", in.FindingCount)
	case in.ResolvedCount < 0:
		return wrong("resolved_count", in.ResolvedCount, "must not be negative")
	case in.NoProgress != stalled:
		return wrong("no_progress", in.NoProgress, "must say whether there are findings, all are repeats, and nothing was resolved")
	case in.StalledRounds < 0:
		return wrong("stalled_rounds", in.StalledRounds, "must not be negative")
	case in.StalledRounds > 0 != in.NoProgress:
		return wrong("stalled_rounds", in.StalledRounds, "must be above 0 exactly where no_progress is true")
	}
	return nil
}

// value is in as the policy sees it. Building it directly spares a trip through
// JSON.
func (in Input) value() ast.Value {
	routes := ast.NewObject()
	for name, n := range in.Routes {
		if n > 0 {
			routes.Insert(ast.StringTerm(name), ast.IntNumberTerm(n))
		}
	}
	return ast.NewObject(
		ast.Item(ast.StringTerm("round"), ast.IntNumberTerm(in.Round)),
		ast.Item(ast.StringTerm("max_rounds"), ast.IntNumberTerm(in.MaxRounds)),
		ast.Item(ast.StringTerm("finding_count"), ast.IntNumberTerm(in.FindingCount)),
		ast.Item(ast.StringTerm("routes"), ast.NewTerm(routes)),
		ast.Item(ast.StringTerm("verify"), ast.StringTerm(string(in.Verify))),
		ast.Item(ast.StringTerm("new_count"), ast.IntNumberTerm(in.NewCount)),
		ast.Item(ast.StringTerm("repeat_count"), ast.IntNumberTerm(in.RepeatCount)),
		ast.Item(ast.StringTerm("reopened_count"), ast.IntNumberTerm(in.ReopenedCount)),
		ast.Item(ast.StringTerm("resolved_count"), ast.IntNumberTerm(in.ResolvedCount)),
		ast.Item(ast.StringTerm("no_progress"), ast.BooleanTerm(in.NoProgress)),
		ast.Item(ast.StringTerm("stalled_rounds"), ast.IntNumberTerm(in.StalledRounds)),
	)
}
