package metrics

import (
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

// maxRows is how many rows a measure may have. The caps of the dimensions allow far
// fewer, and who writes more into a ledger must not fill our memory.
const maxRows = 100_000

// queries ask for the rows that read expects of a family.
func (f Family) queries() []ledger.CounterQuery {
	switch f.aggregation {
	case sums, ones, times:
		return []ledger.CounterQuery{{Measure: f.measure.Name, Limit: maxRows + 1}}
	case histogramCells:
		d := f.distribution()
		return []ledger.CounterQuery{{Measure: d.Cells().Name, Limit: maxRows + 1}, {Measure: d.Sum().Name, Limit: maxRows + 1}}
	case oldest, greatest:
		// The second value comes next in the order of rows, so that one is enough.
		queries := make([]ledger.CounterQuery, len(f.Labels[0].Values))
		for i, value := range f.Labels[0].Values {
			queries[i] = ledger.CounterQuery{Measure: f.measure.Name, Prefix: []string{value}, Limit: 1, Descending: f.aggregation == greatest}
		}
		return queries
	default:
		return nil
	}
}

// distribution is what a histogram is read from.
func (f Family) distribution() counters.Distribution {
	return counters.Distribution{Measure: f.measure, Scale: f.scale}
}

// read makes a family's series, ordered by label values, of the rows that its queries
// found.
func (g snapshot) read(f Family, rows [][]ledger.Counter) ([]*dto.Metric, error) {
	switch f.aggregation {
	case histogramCells:
		return g.histograms(f, rows[0], rows[1])
	case eventCount:
		return []*dto.Metric{g.single(f, float64(g.tallies.Events))}, nil
	case latestEvent:
		return g.at(f, g.until), nil
	case buildInfo:
		return []*dto.Metric{g.single(f, 1, g.options.Build.Version, g.options.Build.Go)}, nil
	case oldest, greatest:
		return g.extremes(f, rows)
	default:
		return g.sums(f, rows[0])
	}
}

// sums makes a series of every row, and those that are known.
func (g snapshot) sums(f Family, rows []ledger.Counter) ([]*dto.Metric, error) {
	numbers := newSeries[float64]()
	for _, row := range rows {
		values, err := f.values(row, f.measure)
		if err != nil {
			return nil, err
		}
		n := float64(1)
		switch f.aggregation {
		case sums:
			n = float64(row.Sum) / float64(f.per)
			if already := numbers.get(values); already != nil {
				n += *already // Two values that are shown as the same.
			}
		case times:
			at, err := moment(row.At)
			if err != nil {
				return nil, err
			}
			n = unix(at)
		}
		numbers.set(values, n)
	}
	var all []*dto.Metric
	for _, values := range numbers.complete(f, g.options.Seed) {
		n := float64(0)
		if known := numbers.get(values); known != nil {
			n = *known
		}
		all = append(all, g.single(f, n, values...))
	}
	return all, nil
}

// extremes makes a series of the first row of each of a label's values.
func (g snapshot) extremes(f Family, rows [][]ledger.Counter) ([]*dto.Metric, error) {
	var all []*dto.Metric
	for i, found := range rows {
		if len(found) == 0 {
			continue
		}
		values, err := f.values(found[0], f.measure)
		if err != nil {
			return nil, err
		}
		if values[0] != f.Labels[0].Values[i] {
			return nil, corrupt("%s has %q for %q", f.measure.Name, textutil.Clip(values[0], maxShown), f.Labels[0].Values[i])
		}
		n, err := f.number(found[0].Values[1])
		if err != nil {
			return nil, err
		}
		all = append(all, g.single(f, n, values...))
	}
	return all, nil
}

// number reads a value that is itself what the metric shows.
func (f Family) number(text string) (float64, error) {
	if f.aggregation == oldest {
		at, err := moment(text)
		if err == nil && at.IsZero() {
			err = corrupt("%s has no time", f.measure.Name)
		}
		return unix(at), err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, corrupt("%s has %q for a number", f.measure.Name, textutil.Clip(text, maxShown))
	}
	return float64(n) / float64(f.per), nil
}

// values are the label values of a row of a measure, as the metric shows them: without
// hidden characters, which a critic can put into a category.
func (f Family) values(row ledger.Counter, m counters.Measure) ([]string, error) {
	if len(row.Values) != len(m.Labels) {
		return nil, corrupt("%s has %d labels and not %d", m.Name, len(row.Values), len(m.Labels))
	}
	if row.Sum < 1 || row.Sum > counters.MaxSum {
		return nil, corrupt("%s comes to %d", m.Name, row.Sum)
	}
	values := make([]string, len(f.Labels))
	for i, l := range f.Labels {
		if !utf8.ValidString(row.Values[i]) {
			return nil, corrupt("%s has a label that is not UTF-8", m.Name)
		}
		values[i] = textutil.Line(strings.TrimPrefix(row.Values[i], l.trim))
	}
	return values, nil
}

// single is a counter or a gauge.
func (g snapshot) single(f Family, n float64, values ...string) *dto.Metric {
	m := &dto.Metric{Label: g.labelled(f.Labels, values)}
	if f.Kind == Counter {
		m.Counter = &dto.Counter{Value: &n, CreatedTimestamp: g.created}
	} else {
		m.Gauge = &dto.Gauge{Value: &n}
	}
	return m
}

// at is a gauge of a time, or nothing for no time.
func (g snapshot) at(f Family, t time.Time) []*dto.Metric {
	if t.IsZero() {
		return nil
	}
	return []*dto.Metric{g.single(f, unix(t))}
}

// unix is a time in seconds, to the millisecond: a float64 does not hold more in a way
// that reads well.
func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// series holds one thing for each combination of label values.
type series[T any] struct {
	of     map[string]*T
	values [][]string
}

func newSeries[T any]() *series[T] { return &series[T]{of: make(map[string]*T)} }

// key tells combinations apart: no value of UTF-8 has that byte.
func (s *series[T]) key(values []string) string { return strings.Join(values, "\xff") }

func (s *series[T]) get(values []string) *T { return s.of[s.key(values)] }

func (s *series[T]) set(values []string, thing T) *T {
	if s.get(values) == nil {
		s.values = append(s.values, values)
	}
	s.of[s.key(values)] = &thing
	return &thing
}

// complete lists the combinations that there are and those that are known, in order,
// each once.
func (s *series[T]) complete(f Family, k Seed) [][]string {
	all := slices.Clone(s.values)
	if f.seeds != nil {
		all = append(all, f.seeds(k, s.values)...)
	}
	slices.SortFunc(all, slices.Compare)
	return slices.CompactFunc(all, slices.Equal)
}
