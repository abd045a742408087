package inputspace

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// The kinds of findings, in the order in which a representative has them: what is
// not said to be anything else is new.
const (
	reopened = iota
	repeat
	fresh
	kinds
)

// kindNames are the kinds as Cell has them.
func kindNames() [kinds]string {
	return [kinds]string{reopened: "reopened", repeat: "repeat", fresh: "new"}
}

// kindFields are the fields of the input that count them.
func kindFields() [kinds]string {
	return [kinds]string{reopened: "reopened_count", repeat: "repeat_count", fresh: "new_count"}
}

// kindsOf counts the findings of each kind.
func kindsOf(in routing.Input) [kinds]int {
	return [kinds]int{reopened: in.ReopenedCount, repeat: in.RepeatCount, fresh: in.NewCount}
}

// scales are the numbers of an input, each divided into spans over which no rule
// can tell it apart.
type scales struct {
	routes           [][]span // by destination
	kinds            [kinds][]span
	findings         []span
	resolved         []span
	stalled          []span
	round, maxRounds []span
}

// anyRoute is what routing.Thresholds calls the count of any destination. That of
// one destination has its name behind it, as in "routes.executor".
const anyRoute = "routes"

// newScales divides every number at what it is compared with. Whether there is
// any of something is told apart in any case, and so is one review without
// progress from two and from more (ADR-0003): those classes are what
// any two policies can be compared over.
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
