package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// contents has the cells of one series.
type contents struct {
	zero  cell
	cells map[int]cell // by number
	sum   int64
}

// cell has the number of its values, and the latest value as an exemplar.
type cell struct {
	count    uint64
	exemplar *dto.Exemplar
}

// histograms returns a histogram for every counted or seeded combination of label values.
func (g snapshot) histograms(f Family, cells, sums []ledger.Counter) ([]*dto.Metric, error) {
	all := make(map[string]*contents) // by labelKey
	for _, row := range cells {
		values, err := f.values(row, f.counted.Cells())
		if err != nil {
			return nil, err
		}
		key := labelKey(values)
		if all[key] == nil {
			all[key] = &contents{cells: make(map[int]cell)}
		}
		if err := all[key].add(f, row); err != nil {
			return nil, err
		}
	}
	for _, row := range sums {
		values, err := f.values(row, f.counted.Sum())
		if err != nil {
			return nil, err
		}
		c := all[labelKey(values)]
		if c == nil {
			return nil, errCorrupt("%s has a sum without values", f.counted.Name)
		}
		c.sum = row.Sum
	}
	var metrics []*dto.Metric
	for _, values := range labelValues(f, g.options.Seed, all) {
		h := f.histogram(cmp.Or(all[labelKey(values)], &contents{}))
		h.CreatedTimestamp = g.created
		metrics = append(metrics, &dto.Metric{Label: g.labelPairs(f.Labels, values), Histogram: h})
	}
	return metrics, nil
}

// add adds a row of cells.
func (c *contents) add(f Family, row ledger.Counter) error {
	text := row.Values[len(row.Values)-1]
	n, zero, ok := f.counted.Scale.ParseCell(text)
	if !ok {
		return errCorrupt("%s has the invalid cell %q", f.counted.Name, textutil.Clip(text, maxShown))
	}
	exemplar, err := f.exemplar(row, text)
	if in := (cell{uint64(row.Sum), exemplar}); zero {
		c.zero = in
	} else {
		c.cells[n] = in
	}
	return err
}

// histogram returns cells as both classic and native buckets.
func (f Family) histogram(c *contents) *dto.Histogram {
	h := f.native(c)
	count := c.zero.count
	cells, newest := slices.Sorted(maps.Keys(c.cells)), c.zero.exemplar
	for _, border := range append(slices.Clip(f.Buckets), math.Inf(1)) {
		for len(cells) > 0 && f.counted.Scale.Upper(cells[0]) <= border {
			in := c.cells[cells[0]]
			count += in.count
			newest = newer(newest, in.exemplar)
			cells = cells[1:]
		}
		if math.IsInf(border, 1) && newest == nil {
			break // The exposition format adds a last bucket without an exemplar.
		}
		cumulative := count
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &border, CumulativeCount: &cumulative, Exemplar: newest})
		if newest != nil {
			h.Exemplars = append(h.Exemplars, newest)
		}
		newest = nil
	}
	return h
}

// native returns cells as a native histogram. The zero bucket counts only 0.
func (f Family) native(c *contents) *dto.Histogram {
	count := c.zero.count
	buckets := make(map[int]int64, len(c.cells))
	for n, in := range c.cells {
		count += in.count
		if f.counted.Scale.Exact {
			n = nativeCell(n)
		}
		buckets[n] += int64(in.count)
	}
	m := prometheus.MustNewConstNativeHistogram(prometheus.NewDesc(f.Name, f.Help, nil, nil), count, float64(c.sum)/float64(f.per),
		buckets, nil, c.zero.count, counters.Resolution, prometheus.DefNativeHistogramZeroThreshold, time.Time{})
	var shown dto.Metric
	_ = m.Write(&shown) // It only copies.
	return shown.Histogram
}

// nativeCell returns the number of the native bucket that holds n.
func nativeCell(n int) int {
	scale := counters.Scale{PerUnit: 1}
	cell, _, _ := scale.ParseCell(scale.Cell(int64(n)))
	return cell
}

// maxExemplar limits the names and values of an exemplar's labels together, in code
// points (OpenMetrics 1.0).
const maxExemplar = 128

// exemplar returns the latest value of a cell with its task and round. It returns nil if the
// row does not have a value, or if its labels are too long.
func (f Family) exemplar(row ledger.Counter, cell string) (*dto.Exemplar, error) {
	if row.Exemplar == nil {
		return nil, nil
	}
	var sample counters.Observation
	if err := json.Unmarshal(row.Exemplar, &sample); err != nil {
		return nil, errCorrupt("%s has an invalid sample: %w", f.counted.Name, err)
	}
	if f.counted.Scale.Cell(sample.Value) != cell || sample.Round < 0 {
		return nil, errCorrupt("%s has the sample %d in the cell %s", f.counted.Name, sample.Value, textutil.Clip(cell, maxShown))
	}
	at, err := moment(row.At)
	if err != nil {
		return nil, err
	}
	labels := exemplarLabels(sample)
	if labels == nil {
		return nil, nil
	}
	value := float64(sample.Value) / float64(f.per)
	return &dto.Exemplar{Label: labels, Value: &value, Timestamp: timestamppb.New(at)}, nil
}

// exemplarLabels returns the labels of a sample's task and round. It drops the round if both
// together are too long. It returns nil if the task alone is too long.
func exemplarLabels(s counters.Observation) []*dto.LabelPair {
	task := pair("task", s.Task)
	if s.Task != "" && s.Round > 0 {
		if round := pair("round", strconv.Itoa(s.Round)); points(round, task) <= maxExemplar {
			return []*dto.LabelPair{round, task}
		}
	}
	if s.Task == "" || points(task) > maxExemplar {
		return nil
	}
	return []*dto.LabelPair{task}
}

// points counts the code points of labels.
func points(labels ...*dto.LabelPair) int {
	n := 0
	for _, l := range labels {
		n += utf8.RuneCountInString(l.GetName()) + utf8.RuneCountInString(l.GetValue())
	}
	return n
}

// newer returns the newer of two exemplars, or b if they have the same time.
func newer(a, b *dto.Exemplar) *dto.Exemplar {
	if a == nil || b != nil && !b.GetTimestamp().AsTime().Before(a.GetTimestamp().AsTime()) {
		return b
	}
	return a
}
