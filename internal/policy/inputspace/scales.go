package inputspace

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// The kinds of findings, in the order in which a representative has them: findings are
// new by default.
const (
	reopened = iota
	repeat
	fresh
	kinds
)

// kindNames returns the names of the kinds in Class.
func kindNames() [kinds]string {
	return [kinds]string{reopened: "reopened", repeat: "repeat", fresh: "new"}
}

// kindFields returns the input fields that count the kinds.
func kindFields() [kinds]string {
	return [kinds]string{reopened: "reopened_count", repeat: "repeat_count", fresh: "new_count"}
}

// kindsOf counts the findings of each kind.
func kindsOf(in routing.Input) [kinds]int {
	return [kinds]int{reopened: in.ReopenedCount, repeat: in.RepeatCount, fresh: in.NewCount}
}

// scales holds the numbers of an input, each divided into spans that no rule
// distinguishes.
type scales struct {
	routes           [][]span // by destination
	kinds            [kinds][]span
	findings         []span
	resolved         []span
	stalled          []span
	round, maxRounds []span
}

// anyRoute is the name in routing.Thresholds for the count of any destination. The count
// of one destination has its name appended, as in "routes.executor".
const anyRoute = "routes"

// newScales divides every number at its thresholds. Zero and nonzero are always
// distinguished, and so are one, two and more reviews without progress (ADR-0003): any
// two policies can be compared over those classes.
func newScales(destinations []string, thresholds map[string][]int) scales {
	counts := span{0, unbounded}
	count := func(field string, always ...int) []span {
		return counts.split(slices.Concat(always, thresholds[field]))
	}
	s := scales{
		routes:    make([][]span, len(destinations)),
		findings:  count("finding_count", 0),
		resolved:  count("resolved_count", 0),
		stalled:   count("stalled_rounds", 0, 2),
		round:     span{1, unbounded}.split(thresholds["round"]),
		maxRounds: span{1, routing.MaxRoundsLimit}.split(thresholds["max_rounds"]),
	}
	for i, name := range destinations {
		s.routes[i] = count(anyRoute, slices.Concat([]int{0}, thresholds[anyRoute+"."+name])...)
	}
	for k, field := range kindFields() {
		s.kinds[k] = count(field, 0)
	}
	return s
}
