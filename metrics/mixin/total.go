package mixin

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/metrics"
)

// terms writes the parts of expressions that follow from the families' labels.
type terms struct {
	labels map[string][]string // by the metric's name
}

func newTerms(families []metrics.Family) terms {
	t := terms{make(map[string][]string)}
	for _, f := range families {
		for _, l := range f.Labels {
			t.labels[f.Name] = append(t.labels[f.Name], l.Name)
		}
		slices.Sort(t.labels[f.Name])
	}
	return t
}

// total sums the series of a metric up for each ledger: over all of its own labels
// but those that are kept, and so over none that an operator added. The selector is
// the metric's name, with or without matchers.
func (t terms) total(selector string, keep ...string) string {
	name, _, _ := strings.Cut(selector, "{")
	var without []string
	for _, l := range t.labels[name] {
		if !slices.Contains(keep, l) {
			without = append(without, l)
		}
	}
	return "sum without (" + strings.Join(without, ", ") + ") (" + selector + ")"
}

// zero is 0 for each ledger in sight.
const zero = "0 * switchyard_ledger_events_total"

// totalOrZero is a total that is 0 where nothing was counted yet.
func (t terms) totalOrZero(selector string) string {
	return t.total(selector) + "\nor\n" + zero
}
