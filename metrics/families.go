package metrics

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Families describes all metrics, ordered by name. The caller owns the slice.
func Families() []Family {
	all := slices.Concat(loopFamilies(), taskFamilies(), spawnFamilies(), guestFamilies(), policyFamilies())
	all = append(all, ledgerFamilies(all)...)
	for i := range all {
		all[i].Name = Prefix + all[i].Name
		if all[i].per == 0 {
			all[i].per = 1
		}
	}
	slices.SortFunc(all, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// counter returns a metric that shows the sums of a measure unchanged.
func counter(name, help string, m counters.Measure, labels ...Label) Family {
	return Family{Name: name, Help: help, Kind: Counter, Labels: labels, measure: m, aggregation: sums, seeds: fixed(labels)}
}

// seconds returns a histogram of durations.
func seconds(name, help string, d counters.Distribution, borders []float64, labels ...Label) Family {
	return Family{
		Name: name, Help: help, Kind: Histogram, Unit: "seconds", Labels: labels, Buckets: borders,
		measure: d.Measure, scale: d.Scale, per: d.Scale.PerUnit, aggregation: histogramCells, seeds: fixed(labels),
	}
}

// open returns a label that takes any value.
func open(name string) Label { return Label{Name: name} }

// of returns a label with a fixed list of values.
func of(name string, values ...string) Label { return Label{Name: name, Values: values} }

// fixed returns a function that lists all combinations of label values if every label has
// fixed values, and none otherwise.
func fixed(labels []Label) func(Seed, [][]string) [][]string {
	lists := make([][]string, len(labels))
	for i, l := range labels {
		lists[i] = l.Values
	}
	return func(Seed, [][]string) [][]string { return combined(lists...) }
}

// combined lists all combinations of one value from each list.
func combined(lists ...[]string) [][]string {
	all := [][]string{nil}
	for _, list := range lists {
		var longer [][]string
		for _, head := range all {
			for _, value := range list {
				longer = append(longer, append(slices.Clip(head), value))
			}
		}
		all = longer
	}
	return all
}
