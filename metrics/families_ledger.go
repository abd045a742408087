package metrics

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// ledgerFamilies describes the ledger and the program. others are all other families.
func ledgerFamilies(others []Family) []Family {
	overflow := counter("label_overflow_total", "Label values that were counted as other, since the label has as many values as it may, or the value is too long.",
		overflow(), open("label"))
	overflow.seeds = func(Seed, [][]string) [][]string { return combined(capped(others)) }
	return []Family{
		{Name: "ledger_events_total", Kind: Counter, aggregation: eventCount, Help: "Events in the ledger."},
		{
			Name: "ledger_last_event_timestamp_seconds", Kind: Gauge, Unit: "seconds", aggregation: latestEvent,
			Help: "Time of the newest event in the ledger.",
		},
		overflow,
		{
			Name: "build_info", Kind: Gauge, Labels: []Label{open("version"), open("goversion")}, aggregation: buildInfo,
			Help: "The program that shows these metrics, always 1.",
		},
	}
}

// overflow is the measure that the ledger itself counts.
func overflow() counters.Measure {
	return counters.Measure{Name: ledger.OverflowMeasure, Labels: []counters.Dimension{{Name: "dimension"}}}
}

// capped lists the dimensions that have a cap, in order.
func capped(families []Family) []string {
	var names []string
	for _, f := range families {
		for _, d := range f.measure.Labels {
			if d.Cap > 0 {
				names = append(names, d.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
