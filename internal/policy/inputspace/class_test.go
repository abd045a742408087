package inputspace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Class describes a class in words. Different classes of a domain have different values.
type Class struct {
	// Present lists the destinations that have findings, strongest first.
	Present []string `json:"present"`
	// Cap compares the round with the cap: belowCap, atCap or aboveCap.
	Cap    string         `json:"cap"`
	Verify routing.Verify `json:"verify"`
	// Progress lists the kinds of findings and whether any were resolved, such as
	// "new+repeat, resolved", or the number of reviews without progress, such as "stalled
	// 2".
	Progress string `json:"progress"`
	// Numbers compares numbers with the policy's thresholds, such as "finding_count 11+".
	// It omits numbers without thresholds.
	Numbers []string `json:"numbers"`
}

// Class describes the class of an input. in must be an input of the domain: one that
// Decide accepts, without findings for other destinations.
func (d *Domain) Class(in routing.Input) Class {
	c := Class{Present: []string{}, Cap: capPosition(in), Verify: in.Verify, Progress: d.scales.progress(in), Numbers: []string{}}
	number := func(field string, scale []span, plain, n int) {
		if len(scale) > plain {
			c.Numbers = append(c.Numbers, fmt.Sprintf("%s %s", field, on(scale, n)))
		}
	}
	// A count has thresholds if it has more spans than zero and nonzero.
	count := func(field string, scale []span, n int) {
		if n > 0 {
			number(field, scale, 2, n)
		}
	}
	number("round", d.scales.round, 1, in.Round)
	number("max_rounds", d.scales.maxRounds, 1, in.MaxRounds)
	count("finding_count", d.scales.findings, in.FindingCount)
	for i, name := range d.destinations {
		if n := in.Routes[name]; n > 0 {
			c.Present = append(c.Present, name)
			count(anyRoute+"."+name, d.scales.routes[i], n)
		}
	}
	for k, n := range kindsOf(in) {
		count(kindFields()[k], d.scales.kinds[k], n)
	}
	count("resolved_count", d.scales.resolved, in.ResolvedCount)
	return c
}

// capPosition compares the round with the cap.
func capPosition(in routing.Input) string {
	switch {
	case in.Round < in.MaxRounds:
		return belowCap
	case in.Round == in.MaxRounds:
		return atCap
	default:
		return aboveCap
	}
}

// progress returns Class.Progress.
func (s scales) progress(in routing.Input) string {
	if in.NoProgress {
		return fmt.Sprintf("stalled %s", on(s.stalled, in.StalledRounds))
	}
	var parts []string
	for k, n := range kindsOf(in) {
		if n > 0 {
			parts = append(parts, kindNames()[k])
		}
	}
	words := "no findings"
	if len(parts) > 0 {
		words = strings.Join(parts, "+")
	}
	if in.ResolvedCount > 0 {
		words += ", resolved"
	}
	return words
}

// on returns the span of a scale that contains n.
func on(scale []span, n int) span {
	for _, s := range scale {
		if s.lo <= n && n <= s.hi {
			return s
		}
	}
	return span{n, n} // beyond all thresholds
}

// kindNames returns the names of the kinds in Class.
func kindNames() [kinds]string {
	return [kinds]string{reopened: "reopened", repeat: "repeat", fresh: "new"}
}

// String formats the span as 3, 3..5 or 3+.
func (s span) String() string {
	switch s.hi {
	case s.lo:
		return fmt.Sprint(s.lo)
	case unbounded:
		return fmt.Sprintf("%d+", s.lo)
	default:
		return fmt.Sprintf("%d..%d", s.lo, s.hi)
	}
}

// Destinations lists the destinations that the classes have findings for, strongest
// first. The caller owns the slice.
func (d *Domain) Destinations() []string { return slices.Clone(d.destinations) }
