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
	// Unit is the base unit at the end of the name, before _total: seconds, dollars or "".
	Unit string
	// Labels are in the order of the measure's labels.
	Labels []Label
	// Buckets are the upper bounds of a histogram's classic buckets, without +Inf. Every
	// histogram is also exported as a native one.
	Buckets []float64
	// counted has the metric's measure in the ledger. Only histograms have a scale. The name
	// is "" if the aggregation does not need a measure.
	counted counters.Distribution
	// per is the number of counted units that are 1 in the metric.
	per         int64
	aggregation aggregation

	// seeds lists the label values of series that are exported as 0 before their first
	// count. seen has the counted label values. The default for sums and histogramCells is
	// all combinations of fixed values.
	seeds func(k Seed, seen [][]string) [][]string
}

// Label describes a label of a metric.
type Label struct {
	Name string
	// Values are the known values, or nil if they depend on a policy or a project. A severity
	// can have another value, which a critic wrote.
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
