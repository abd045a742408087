package metrics

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxRows limits the rows of a measure. The caps of the dimensions allow far fewer, but a
// manipulated ledger must not exhaust the memory.
const maxRows = 100_000

// queries returns the queries for the rows that read expects.
func (f Family) queries() []ledger.CounterQuery {
	switch f.aggregation {
	case sums, ones, times, latest:
		return []ledger.CounterQuery{{Measure: f.counted.Name, Limit: maxRows + 1}}
	case histogramCells:
		return []ledger.CounterQuery{{Measure: f.counted.Cells().Name, Limit: maxRows + 1}, {Measure: f.counted.Sum().Name, Limit: maxRows + 1}}
	case oldest, greatest:
		// Rows are ordered by the second value next, so one is enough.
		queries := make([]ledger.CounterQuery, len(f.Labels[0].Values))
		for i, value := range f.Labels[0].Values {
			queries[i] = ledger.CounterQuery{Measure: f.counted.Name, Prefix: []string{value}, Limit: 1, Descending: f.aggregation == greatest}
		}
		return queries
	default:
		return nil
	}
}

// read returns a family's series, ordered by label values, from the rows of its queries.
func (g snapshot) read(f Family, rows [][]ledger.Counter) ([]*dto.Metric, error) {
	switch f.aggregation {
	case histogramCells:
		return g.histograms(f, rows[0], rows[1])
	case eventCount:
		return []*dto.Metric{g.single(f, float64(g.events))}, nil
	case latestEvent:
		if g.until.IsZero() {
			return nil, nil
		}
		return []*dto.Metric{g.single(f, unix(g.until))}, nil
	case buildInfo:
		return []*dto.Metric{g.single(f, 1, g.options.Build.Version, g.options.Build.Go)}, nil
	case oldest, greatest:
		return g.extremes(f, rows)
	case latest:
		return g.latest(f, rows[0])
	default:
		return g.sums(f, rows[0])
	}
}

// sums returns a series for every row and for every seeded combination.
func (g snapshot) sums(f Family, rows []ledger.Counter) ([]*dto.Metric, error) {
	numbers := make(map[string]float64) // by labelKey; seeded ones are 0
	for _, row := range rows {
		values, err := f.values(row, f.counted.Measure)
		if err != nil {
			return nil, err
		}
		key := labelKey(values)
		switch f.aggregation {
		case sums:
			numbers[key] += float64(row.Sum) / float64(f.per) // Values of two rows can be equal once shown.
		case times:
			at, err := moment(row.At)
			if err != nil {
				return nil, err
			}
			numbers[key] = unix(at)
		default:
			numbers[key] = 1
		}
	}
	var all []*dto.Metric
	for _, values := range labelValues(f, g.options.Seed, numbers) {
		all = append(all, g.single(f, numbers[labelKey(values)], values...))
	}
	return all, nil
}

// latest returns a series for each counted first value and each possible second value.
func (g snapshot) latest(f Family, rows []ledger.Counter) ([]*dto.Metric, error) {
	type counted struct {
		second string
		seq    int64
	}
	last := make(map[string]counted) // by the first value
	for _, row := range rows {
		values, err := f.values(row, f.counted.Measure)
		if err != nil {
			return nil, err
		}
		if row.Seq > last[values[0]].seq {
			last[values[0]] = counted{values[1], row.Seq}
		}
	}
	var all []*dto.Metric
	for _, first := range slices.Sorted(maps.Keys(last)) {
		for _, second := range f.Labels[1].Values {
			n := 0.0
			if last[first].second == second {
				n = 1
			}
			all = append(all, g.single(f, n, first, second))
		}
	}
	return all, nil
}

// extremes returns a series for each value of the first label, from the first of its rows.
func (g snapshot) extremes(f Family, rows [][]ledger.Counter) ([]*dto.Metric, error) {
	var all []*dto.Metric
	for i, found := range rows {
		if len(found) == 0 {
			continue
		}
		values, err := f.values(found[0], f.counted.Measure)
		if err != nil {
			return nil, err
		}
		if values[0] != f.Labels[0].Values[i] {
			return nil, errCorrupt("%s has a row of %q instead of %q", f.counted.Name, textutil.Clip(values[0], maxShown), f.Labels[0].Values[i])
		}
		n, err := f.number(found[0].Values[1])
		if err != nil {
			return nil, err
		}
		all = append(all, g.single(f, n, values...))
	}
	return all, nil
}

// number parses a label's value that is the metric's value.
func (f Family) number(text string) (float64, error) {
	if f.aggregation == oldest {
		at, err := moment(text)
		if err == nil && at.IsZero() {
			err = errCorrupt("%s has no time", f.counted.Name)
		}
		return unix(at), err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, errCorrupt("%s has %q, which is not a number", f.counted.Name, textutil.Clip(text, maxShown))
	}
	return float64(n) / float64(f.per), nil
}

// values returns the label values of a row, without hidden characters: a critic can put some
// into a category.
func (f Family) values(row ledger.Counter, m counters.Measure) ([]string, error) {
	if len(row.Values) != len(m.Labels) {
		return nil, errCorrupt("%s has a row with %d labels instead of %d", m.Name, len(row.Values), len(m.Labels))
	}
	if row.Sum < 1 || row.Sum > counters.MaxSum {
		return nil, errCorrupt("%s has the impossible sum %d", m.Name, row.Sum)
	}
	values := make([]string, len(f.Labels))
	for i, l := range f.Labels {
		if !utf8.ValidString(row.Values[i]) {
			return nil, errCorrupt("%s has a label that is not UTF-8", m.Name)
		}
		values[i] = textutil.Line(strings.TrimPrefix(row.Values[i], l.trim))
	}
	return values, nil
}

// single returns a counter or a gauge.
func (g snapshot) single(f Family, n float64, values ...string) *dto.Metric {
	m := &dto.Metric{Label: g.labelPairs(f.Labels, values)}
	if f.Kind == Counter {
		m.Counter = &dto.Counter{Value: &n, CreatedTimestamp: g.created}
	} else {
		m.Gauge = &dto.Gauge{Value: &n}
	}
	return m
}

// unix returns a time in seconds, rounded to milliseconds, since a float64 is not more precise.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// labelKey is unique for each combination of label values.
func labelKey(values []string) string { return strings.Join(values, keySeparator) }

// keySeparator is a byte that does not occur in UTF-8.
const keySeparator = "\xff"

// labelValues lists the counted and the seeded combinations in order, without duplicates.
func labelValues[T any](f Family, k Seed, counted map[string]T) [][]string {
	var all [][]string
	for key := range counted {
		all = append(all, strings.SplitN(key, keySeparator, len(f.Labels)))
	}
	if f.seeds != nil {
		for _, values := range f.seeds(k, all) {
			for i := range values {
				values[i] = textutil.Line(values[i]) // As in values.
			}
			all = append(all, values)
		}
	}
	slices.SortFunc(all, slices.Compare)
	return slices.CompactFunc(all, slices.Equal)
}
