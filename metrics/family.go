package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/counters"
)

// Kind is the type of a metric.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Family describes a metric.
type Family struct {
	// Name is the whole name, with Prefix.
	Name string
	// Help is one sentence, as the exposition has it.
	Help string
	Kind Kind
	// Unit is the base unit that the name ends in, before _total: seconds or dollars,
	// "" elsewhere.
	Unit string
	// Labels are in the order of the measure's, as far as the metric shows them.
	Labels []Label
	// Buckets are the upper borders of a histogram's classic buckets, without the
	// last, infinite one. A native histogram comes with them.
	Buckets []float64
	// measure is what the ledger counts for the metric; for a histogram the one that
	// its cells and its sum belong to. Its name is "" where Reading needs none.
	measure counters.Measure
	// scale is that of a histogram's cells.
	scale counters.Scale
	// per is how many of the whole numbers that are counted make 1 of the metric.
	per int64
	// aggregation is how the metric follows from the measure's rows.
	aggregation aggregation

	// seeds lists the label values of the series that are shown before anything was
	// counted for them, at 0. seen are those of which something was. nil lists none,
	// and not even the single series of a metric without labels.
	seeds func(k Seed, seen [][]string) [][]string
}

// Label describes a label of a metric.
type Label struct {
	Name string
	// Values are all that there are, where Switchyard itself chooses them and none
	// can be added by a policy or a project; nil elsewhere.
	Values []string
	// trim is cut off the front of the measure's value.
	trim string
}

// aggregation is how a metric follows from the rows of its measure.
type aggregation string

// The readings.
const (
	// sums: a series a row, with its sum.
	sums aggregation = "sums"
	// histogramCells: a histogram, from the rows of counters.Distribution's two measures.
	histogramCells aggregation = "cells"
	// ones: a series a row, always 1.
	ones aggregation = "ones"
	// times: a series a row, with the time of its last change.
	times aggregation = "times"
	// oldest: the earliest of the rows' second value, a time, by their first.
	oldest aggregation = "oldest"
	// greatest: the greatest of the rows' second value, a number, by their first.
	greatest aggregation = "greatest"
	// eventCount is the number of events in the ledger, and Newest the time of the last.
	eventCount  aggregation = "events"
	latestEvent aggregation = "newest"
	// buildInfo: not the ledger knows, but the program that shows it.
	buildInfo aggregation = "program"
)

// powers are the borders 2^e, exactly as the cells have them.
func powers(exponents ...int) []float64 {
	borders := make([]float64, len(exponents))
	for i, e := range exponents {
		borders[i] = counters.Upper(e << counters.Resolution)
	}
	return borders
}

// exponents are the whole numbers from first to last, each step apart.
func exponents(first, last, step int) []int {
	var all []int
	for e := first; e <= last; e += step {
		all = append(all, e)
	}
	return all
}
