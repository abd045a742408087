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
	// Measure is what the ledger counts for the metric; for a histogram the one that
	// its cells and its sum belong to. Its name is "" where Reading needs none.
	Measure counters.Measure
	// Scale is that of a histogram's cells.
	Scale counters.Scale
	// Per is how many of the whole numbers that are counted make 1 of the metric.
	Per int64
	// Reading is how the metric follows from the measure's rows.
	Reading Reading

	// known lists the label values of the series that are shown before anything was
	// counted for them, at 0. seen are those of which something was. nil lists none,
	// and not even the single series of a metric without labels.
	known func(k Seed, seen [][]string) [][]string
}

// Label describes a label of a metric.
type Label struct {
	Name string
	// Values are all that there are, where Switchyard itself chooses them and none
	// can be added by a policy or a project; nil elsewhere.
	Values []string
	// Trim is cut off the front of the measure's value.
	Trim string
}

// Reading is how a metric follows from the rows of its measure.
type Reading string

// The readings.
const (
	// Sums: a series a row, with its sum.
	Sums Reading = "sums"
	// Cells: a histogram, from the rows of counters.Distribution's two measures.
	Cells Reading = "cells"
	// Ones: a series a row, always 1.
	Ones Reading = "ones"
	// Times: a series a row, with the time of its last change.
	Times Reading = "times"
	// Oldest: the earliest of the rows' second value, a time, by their first.
	Oldest Reading = "oldest"
	// Greatest: the greatest of the rows' second value, a number, by their first.
	Greatest Reading = "greatest"
	// Events is the number of events in the ledger, and Newest the time of the last.
	Events Reading = "events"
	Newest Reading = "newest"
	// Program: not the ledger knows, but the program that shows it.
	Program Reading = "program"
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
