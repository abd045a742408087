package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// stuckFirst requires that nothing in the precedence is stronger than stuck.
func (c *checker) stuckFirst() {
	f := c.found[StuckStrongest]
	f.checked++
	if c.precedence[0] != routing.Stuck {
		f.flaw(Violation{Message: fmt.Sprintf("the precedence has %q before %q", c.precedence[0], routing.Stuck)})
	}
}

// declaredTables requires both tables to lead to declared destinations. routing.Load
// rejects other policies, but the check does not rely on that.
func (c *checker) declaredTables() {
	f := c.found[Declared]
	table := c.policy.RouteTable()
	for _, category := range slices.Sorted(maps.Keys(table)) {
		f.checked++
		if _, ok := c.destinations[table[category]]; !ok {
			f.flaw(c.row(category, fmt.Sprintf("%q goes to %q, which is not declared", category, table[category])))
		}
	}
}

// row returns a violation caused by a row of the route table.
func (c *checker) row(category, message string) Violation {
	v := Violation{Message: message}
	if place, ok := c.policy.RouteLocation(category); ok {
		v.Location = &place
	}
	return v
}

// categories checks the route table against the raised categories.
func (c *checker) categories(raised map[string][]string) {
	inTable, known := c.found[CategoryRaised], c.found[CategoryKnown]
	if raised == nil {
		inTable.skipped = "who raises what is asked of the newest version alone"
		known.skipped = inTable.skipped
		return
	}
	for _, category := range slices.Sorted(maps.Keys(c.policy.RouteTable())) {
		inTable.checked++
		if len(raised[category]) == 0 {
			inTable.flaw(c.row(category, fmt.Sprintf("nothing raises %q", category)))
		}
	}
	for _, category := range slices.Sorted(maps.Keys(raised)) {
		known.checked++
		if _, ok := c.policy.Route(category); !ok {
			by := slices.Sorted(slices.Values(raised[category]))
			known.flaw(Violation{Message: fmt.Sprintf("%q, raised by %s, has no route", category, strings.Join(by, ", "))})
		}
	}
}
