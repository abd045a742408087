package routing

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Verify is the result of the project's verification in this round.
type Verify string

// The results of a verification.
const (
	// Green: it ran and passed.
	Green Verify = "green"
	// Red: it ran and failed.
	Red Verify = "red"
	// Absent: it did not run, or the project has no verification.
	Absent Verify = "absent"
)

// MaxRoundsLimit is the highest round cap of a task.
const MaxRoundsLimit = 100

// Input is everything a policy knows about a round. It is a summary: a policy sees counts
// of findings, never their content.
type Input struct {
	// Round counts from 1. It may exceed the cap if the cap was lowered.
	Round int `json:"round"`
	// MaxRounds is the cap, from 1 to MaxRoundsLimit.
	MaxRounds int `json:"max_rounds"`
	// FindingCount is the number of open findings: the sum of Routes.
	FindingCount int `json:"finding_count"`
	// Routes is the number of findings for each destination. Destinations without
	// findings may be omitted and are removed before evaluation, so that a decision
	// cannot depend on how a caller expresses zero.
	Routes map[string]int `json:"routes"`
	Verify Verify         `json:"verify"`

	// The next fields compare this review with the task's earlier ones (ADR-0003).
	// Findings are the same if their fingerprints are. A caller that does not know
	// earlier reviews sends every finding as new.

	// NewCount is the number of findings that the task never had before.
	NewCount int `json:"new_count"`
	// RepeatCount is the number of findings that the task's previous review had too.
	RepeatCount int `json:"repeat_count"`
	// ReopenedCount is the number of findings that the task had before, but not in its
	// previous review. Every finding is new, a repeat or reopened.
	ReopenedCount int `json:"reopened_count"`
	// ResolvedCount is the number of findings of the previous review that are gone.
	ResolvedCount int `json:"resolved_count"`
	// NoProgress is true if and only if there are findings, all are repeats, and nothing
	// was resolved.
	NoProgress bool `json:"no_progress"`
	// StalledRounds is the number of consecutive reviews without progress, including this
	// one. It is 0 if and only if NoProgress is false.
	StalledRounds int `json:"stalled_rounds"`

	// Facts are additional fields for policies with a rule named bar. If it is nil, these
	// see the facts of a task's first review, with findings that no bar defers.
	*Facts
}

// Productive reports whether the review settled findings without any coming back, and
// verification is not red.
func (in Input) Productive() bool {
	return in.ResolvedCount > 0 && in.RepeatCount == 0 && in.ReopenedCount == 0 && in.Verify != Red
}

// IsStalled reports whether the counts are of a review without progress, which is the value
// of NoProgress in every valid input.
func (in Input) IsStalled() bool {
	return in.FindingCount > 0 && in.RepeatCount == in.FindingCount && in.ResolvedCount == 0
}

// check checks in for consistency with itself and with the policy's tables. No rule may
// see an input that contradicts itself.
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
	if err := in.checkPast(wrong); err != nil || in.Facts == nil {
		return err
	}
	return in.Facts.check(in, wrong)
}

// refusal returns the error for one field of an input.
type refusal func(field string, value any, format string, args ...any) error

// checkRoutes requires the routes to add up to FindingCount. It subtracts, because a sum
// could overflow.
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

// checkPast requires the comparison with earlier reviews to be consistent with itself and
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
	switch {
	case left > 0:
		return wrong("new_count", in.NewCount, "must add up to finding_count, %d, with repeat_count and reopened_count", in.FindingCount)
	case in.ResolvedCount < 0:
		return wrong("resolved_count", in.ResolvedCount, "must not be negative")
	case in.NoProgress != in.IsStalled():
		return wrong("no_progress", in.NoProgress, "must be true if and only if there are findings, all are repeats, and none was resolved")
	case in.StalledRounds < 0:
		return wrong("stalled_rounds", in.StalledRounds, "must not be negative")
	case in.StalledRounds > 0 != in.NoProgress:
		return wrong("stalled_rounds", in.StalledRounds, "must be above 0 if and only if no_progress is true")
	}
	return nil
}

// AppendKey appends a key to b. Two inputs have the same key if and only if the named fields
// are equal, or all fields if fields is nil.
func (in Input) AppendKey(b []byte, fields []string) []byte {
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	in.each(DecisionRule, func(name string, value any) {
		if fields != nil && !slices.Contains(fields, name) {
			return
		}
		text(name)
		switch v := value.(type) {
		case int:
			b = binary.AppendVarint(b, int64(v))
		case bool:
			b = strconv.AppendBool(b, v)
		case string:
			text(v)
		case map[string]int:
			b = binary.AppendUvarint(b, uint64(len(v)))
			for _, to := range slices.Sorted(maps.Keys(v)) {
				text(to)
				b = binary.AppendVarint(b, int64(v[to]))
			}
		}
	})
	return b
}

// value returns in as a rule sees it. It builds the value directly, which avoids a JSON
// round trip.
func (in Input) value(rule Rule) ast.Object {
	fields := make([][2]*ast.Term, 0, 21)
	in.each(rule, func(name string, value any) {
		var term *ast.Term
		switch v := value.(type) {
		case int:
			term = ast.InternedTerm(v)
		case bool:
			term = ast.InternedTerm(v)
		case string:
			term = ast.InternedTerm(v)
		case map[string]int:
			routes := ast.NewObject()
			for to, n := range v {
				if n > 0 {
					routes.Insert(ast.InternedTerm(to), ast.InternedTerm(n))
				}
			}
			term = ast.NewTerm(routes)
		}
		fields = append(fields, ast.Item(ast.InternedTerm(name), term))
	})
	return ast.NewObject(fields...)
}

// each calls field with the name and the value of every field that the rule sees: an int, a
// bool, a string or the counts by destination.
func (in Input) each(rule Rule, field func(name string, value any)) {
	field("round", in.Round)
	field("max_rounds", in.MaxRounds)
	field("finding_count", in.FindingCount)
	field(routesField, in.Routes)
	field("verify", string(in.Verify))
	field("new_count", in.NewCount)
	field("repeat_count", in.RepeatCount)
	field("reopened_count", in.ReopenedCount)
	field("resolved_count", in.ResolvedCount)
	field("no_progress", in.NoProgress)
	field("stalled_rounds", in.StalledRounds)
	f := in.Facts
	if f == nil {
		return
	}
	field(hardCapField, f.HardCap)
	field("rounds_left", f.RoundsLeft)
	field(mayExtendField, f.MayExtend)
	field("first_time_count", f.FirstTimeCount)
	field("reviews_since_low", f.ReviewsSinceLow)
	if f.InducedCount != nil {
		field("induced_count", *f.InducedCount)
	}
	field("induced_rounds", f.InducedRounds)
	field("blocking_count", f.BlockingCount)
	if rule == DecisionRule {
		field(deferredField, f.DeferredCount)
	}
	field(confinementField, string(f.Confinement))
}
