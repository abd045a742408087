package oracle

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Report is the result of comparing an exposition with a recount.
type Report struct {
	// Series is the number of series compared, counting a histogram once, and Events the
	// number of events recounted.
	Series int
	Events int64
	// Differences are ordered by metric and labels; wrong creation times come last.
	Differences []Difference
}

// Difference is a number that does not match the events.
type Difference struct {
	// Metric is the name of the sample: for a histogram, of its buckets, count or sum. The
	// cells of a native histogram are its buckets with a label cell, which is Prometheus's
	// number of the bucket, or zero. A creation time has the metric's name and _created.
	Metric string
	Labels map[string]string
	// Shown and Recounted are nil if the series is missing.
	Shown     *float64
	Recounted *float64
}

// String formats the series of a difference as in the text format.
func (d Difference) String() string { return seriesOf(d.Metric, d.Labels) }

// Compare compares an exposition with a recount of the same number of events. A series
// that is 0 equals a missing one: events do not tell what will be counted later.
func (r *Recount) Compare(x Exposition) Report {
	report := Report{Series: x.Series, Events: r.events, Differences: []Difference{}}
	recounted := r.samples()
	keys := maps.Clone(recounted)
	maps.Copy(keys, x.samples)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		shown, isShown := x.samples[key]
		want, isCounted := recounted[key]
		if same(shown.value, want.value) && (isCounted || r.knows(shown.metric)) || !isShown && want.cell() && !x.native {
			continue
		}
		d := Difference{Metric: keys[key].metric, Labels: keys[key].labels}
		if isShown {
			d.Shown = &shown.value
		}
		if isCounted {
			d.Recounted = &want.value
		}
		report.Differences = append(report.Differences, d)
	}
	since := seconds(timeOf(r.since))
	for _, key := range slices.Sorted(maps.Keys(x.created)) {
		if shown := x.created[key]; !same(shown.value, since) {
			report.Differences = append(report.Differences, Difference{Metric: shown.metric + "_created", Labels: shown.labels, Shown: &shown.value, Recounted: &since})
		}
	}
	return report
}

// same compares integers exactly. Other numbers may have been divided in another order.
func same(shown, want float64) bool {
	return shown == want || want != math.Trunc(want) && math.Abs(shown-want) <= 1e-15*math.Abs(want)
}

// knows reports whether a sample belongs to a recounted metric.
func (r *Recount) knows(name string) bool {
	name = strings.TrimPrefix(name, prefix)
	if _, ok := r.metrics[name]; ok {
		return true
	}
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if m, ok := r.metrics[strings.TrimSuffix(name, suffix)]; ok && m.borders != nil {
			return true
		}
	}
	return false
}
