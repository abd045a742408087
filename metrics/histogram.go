package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// zeroThreshold is the width of a native histogram's zero bucket, which counts only 0. It
// is the client library's default.
const zeroThreshold = 0x1p-128

// contents are the cells of one series.
type contents struct {
	zero  cell
	cells map[int]cell // by number
	sum   int64
}

// cell has the number of its values and the latest of them.
type cell struct {
	count    uint64
	exemplar *dto.Exemplar
}

// histograms returns a histogram for every label combination that is counted or seeded.
// Each has classic and native buckets.
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
			return nil, corrupt("%s has a sum without values", f.counted.Name)
		}
		c.sum = row.Sum
	}
	var metrics []*dto.Metric
	for _, values := range labelValues(f, g.options.Seed, all) {
		h := f.histogram(cmp.Or(all[labelKey(values)], &contents{}))
		h.CreatedTimestamp = g.created
		metrics = append(metrics, &dto.Metric{Label: g.labelled(f.Labels, values), Histogram: h})
	}
	return metrics, nil
}

// add adds a row of cells.
func (c *contents) add(f Family, row ledger.Counter) error {
	text := row.Values[len(row.Values)-1]
	n, zero, ok := f.counted.Scale.ParseCell(text)
	if !ok {
		return corrupt("%s has a cell %q", f.counted.Name, textutil.Clip(text, maxShown))
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
	count, sum := c.zero.count, float64(c.sum)/float64(f.per)
	h := &dto.Histogram{SampleCount: &count, SampleSum: &sum}
	cells, newest := slices.Sorted(maps.Keys(c.cells)), c.zero.exemplar
	for _, border := range append(slices.Clip(f.Buckets), math.Inf(1)) {
		for len(cells) > 0 && f.counted.Scale.Upper(cells[0]) <= border {
			in := c.cells[cells[0]]
			count += in.count
			newest = newer(newest, in.exemplar)
			cells = cells[1:]
		}
		if math.IsInf(border, 1) && newest == nil {
			break // The exposition adds the last bucket if it has no exemplar.
		}
		cumulative := count
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &border, CumulativeCount: &cumulative, Exemplar: newest})
		if newest != nil {
			h.Exemplars = append(h.Exemplars, newest)
		}
		newest = nil
	}
	f.native(h, c)
	return h
}

// native adds the buckets of a native histogram.
func (f Family) native(h *dto.Histogram, c *contents) {
	schema, threshold := int32(counters.Resolution), float64(zeroThreshold)
	h.Schema, h.ZeroThreshold, h.ZeroCount = &schema, &threshold, &c.zero.count
	buckets := make(map[int]uint64, len(c.cells))
	for n, in := range c.cells {
		if f.counted.Scale.Exact {
			n = nativeCell(n)
		}
		buckets[n] += in.count
	}
	h.PositiveSpan, h.PositiveDelta = spans(buckets)
}

// nativeCell returns the number of the native bucket that holds n.
func nativeCell(n int) int {
	scale := counters.Scale{PerUnit: 1}
	cell, _, _ := scale.ParseCell(scale.Cell(int64(n)))
	return cell
}

// maxGap is the number of empty buckets up to which writing them is cheaper than a new
// span.
const maxGap = 2

// spans encodes buckets as runs of neighbours. A run's offset is relative to the end of
// the previous run, and a bucket's count is the difference to the previous bucket.
func spans(buckets map[int]uint64) ([]*dto.BucketSpan, []int64) {
	var all []*dto.BucketSpan
	var deltas []int64
	var before int64
	next := 0 // The bucket after the last one.
	add := func(count int64) {
		*all[len(all)-1].Length++
		deltas = append(deltas, count-before)
		before = count
	}
	for _, n := range slices.Sorted(maps.Keys(buckets)) {
		gap := n - next
		if len(all) == 0 || gap > maxGap {
			offset := int32(gap)
			all = append(all, &dto.BucketSpan{Offset: &offset, Length: new(uint32)})
			gap = 0
		}
		for range gap {
			add(0)
		}
		add(int64(buckets[n]))
		next = n + 1
	}
	return all, deltas
}

// maxExemplar limits the names and values of an exemplar's labels together, in code
// points (OpenMetrics 1.0).
const maxExemplar = 128

// exemplar returns the latest value of a cell with its task and round, or nil if the
// ledger has none.
func (f Family) exemplar(row ledger.Counter, cell string) (*dto.Exemplar, error) {
	if row.Exemplar == nil {
		return nil, nil
	}
	var sample counters.Observation
	if err := json.Unmarshal(row.Exemplar, &sample); err != nil {
		return nil, corrupt("%s has a sample that cannot be read: %w", f.counted.Name, err)
	}
	if f.counted.Scale.Cell(sample.Value) != cell || sample.Round < 0 {
		return nil, corrupt("%s has a sample %d in the cell %s", f.counted.Name, sample.Value, textutil.Clip(cell, maxShown))
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

// exemplarLabels returns the labels of a sample's task and round. It drops the round if
// both do not fit, and the task if it is too long itself: half an id identifies nothing.
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

// newer returns the newer of two exemplars, and b if they have the same time.
func newer(a, b *dto.Exemplar) *dto.Exemplar {
	if a == nil || b != nil && !b.GetTimestamp().AsTime().Before(a.GetTimestamp().AsTime()) {
		return b
	}
	return a
}
