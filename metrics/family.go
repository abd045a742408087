package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Kind is the type of a metric.
type Kind string

// The types of metrics.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Family describes a metric.
type Family struct {
	// Name is the full name, with Prefix.
	Name string
	// Help is one sentence.
	Help string
	Kind Kind
	// Unit is the base unit that the name ends in, before _total: seconds, dollars, or ""
	// for none.
	Unit string
	// Labels are in the order of the measure's labels.
	Labels []Label
	// Buckets are the upper bounds of a histogram's classic buckets, without +Inf. Every
	// histogram is also exported as a native one.
	Buckets []float64
	// measure is what the ledger counts for the metric; for a histogram it is the measure
	// of its cells and sum. Its name is "" if the aggregation needs none.
	measure counters.Measure
	// scale is the scale of a histogram's cells.
	scale counters.Scale
	// per is how many counted units make 1 of the metric.
	per         int64
	aggregation aggregation

	// seeds lists the label values of the series that are exported as 0 before anything
	// is counted for them. seen are the label values that were counted. If seeds is nil,
	// a metric has no such series, not even the one without labels.
	seeds func(k Seed, seen [][]string) [][]string
}

// Label describes a label of a metric.
type Label struct {
	Name string
	// Values are all possible values, if Switchyard itself defines them and neither a
	// policy nor a project can add one; otherwise nil.
	Values []string
	// trim is a prefix that is removed from the measure's value.
	trim string
}

// aggregation says how a metric is computed from the rows of its measure.
type aggregation string

// The aggregations.
const (
	// sums: one series per row, with its sum.
	sums aggregation = "sums"
	// histogramCells: a histogram, from the two measures of a counters.Distribution.
	histogramCells aggregation = "cells"
	// ones: one series per row, always 1.
	ones aggregation = "ones"
	// times: one series per row, with the time of its last change.
	times aggregation = "times"
	// oldest: for each first value, the earliest second value, a time.
	oldest aggregation = "oldest"
	// greatest: for each first value, the greatest second value, a number.
	greatest aggregation = "greatest"
	// eventCount is the number of events in the ledger, latestEvent the time of the last
	// one.
	eventCount  aggregation = "events"
	latestEvent aggregation = "newest"
	// buildInfo describes the program and does not use the ledger.
	buildInfo aggregation = "program"
)

// powers returns the bounds 2^e, exactly as the cells have them.
func powers(exponents ...int) []float64 {
	borders := make([]float64, len(exponents))
	for i, e := range exponents {
		borders[i] = counters.Upper(e << counters.Resolution)
	}
	return borders
}

// exponents returns the integers from first to last in the given steps.
func exponents(first, last, step int) []int {
	var all []int
	for e := first; e <= last; e += step {
		all = append(all, e)
	}
	return all
}
