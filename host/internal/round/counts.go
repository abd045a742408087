package round

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// counts collects what an event adds to the ledger's sums (ADR-0018).
type counts struct{ changes []counters.Change }

func (c *counts) add(m counters.Measure, n int64, values ...string) {
	if n == 0 {
		return
	}
	c.changes = append(c.changes, counters.Change{Measure: m, Values: values, Add: n})
}

func (c *counts) observe(d counters.Distribution, s counters.Observation, values ...string) {
	c.changes = append(c.changes, d.Observe(s, values...)...)
}

// turn replaces what a state counted for by what the next one does.
func (c *counts) turn(before, after []counters.Change) {
	gone := make(map[string]counters.Change, len(before))
	for _, was := range before {
		gone[keyOf(was)] = was
	}
	for _, is := range after {
		if _, stays := gone[keyOf(is)]; stays {
			delete(gone, keyOf(is))
			continue
		}
		c.changes = append(c.changes, is)
	}
	for _, was := range before {
		if _, ends := gone[keyOf(was)]; ends {
			c.add(was.Measure, -was.Add, was.Values...)
		}
	}
}

// keyOf tells the sums apart that a task's state changes. None of the values holds
// a line break.
func keyOf(c counters.Change) string { return c.Measure.Name + "\n" + strings.Join(c.Values, "\n") }

// dayOf is the day of an event's time, in UTC.
func dayOf(at string) string {
	day, _, _ := strings.Cut(at, "T")
	return day
}
