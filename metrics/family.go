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
	// counted is what the ledger counts for the metric. Only histograms have a scale. Its
	// name is "" if the aggregation needs none.
	counted counters.Distribution
	// per is how many counted units make 1 of the metric.
	per         int64
	aggregation aggregation

	// seeds lists the label values of the series that are exported as 0 before anything
	// is counted for them. seen are the label values that were counted. The default is
	// all combinations of fixed values; other aggregations than sums and histogramCells
	// have none.
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
	// latest: for each first value, 1 for the second value that was counted last, and 0 for
	// its others.
	latest aggregation = "latest"
	// eventCount is the number of events in the ledger, latestEvent the time of the last
	// one.
	eventCount  aggregation = "events"
	latestEvent aggregation = "newest"
	// buildInfo describes the program and does not use the ledger.
	buildInfo aggregation = "program"
)
