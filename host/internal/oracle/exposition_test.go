package oracle

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Exposition is a collector's output for a ledger at one moment.
type Exposition struct {
	// Events is the number of events in the ledger at that moment.
	Events int64
	// Series is the number of series, counting a histogram once.
	Series  int
	samples samples
	// native reports whether histograms have native cells.
	native bool
	// created has the creation time of each series.
	created samples
}

const eventsTotal = prefix + "ledger_events_total"

// Parse reads an exposition in the text format.
func Parse(r io.Reader) (Exposition, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return Exposition{}, err
	}
	return Gathered(slices.Collect(maps.Values(families)))
}

// Gathered returns the exposition of a collector's families.
func Gathered(families []*dto.MetricFamily) (Exposition, error) {
	x := Exposition{samples: make(samples), created: make(samples)}
	for _, f := range families {
		if f.GetName() == eventsTotal {
			x.Events = int64(sampleValue(f.GetMetric()[0]))
		}
		if f.GetName() == prefix+"build_info" {
			continue // It describes the program, not the events.
		}
		for _, m := range f.GetMetric() {
			x.Series++
			if err := x.add(f.GetName(), labelsOf(m), m); err != nil {
				return Exposition{}, err
			}
		}
	}
	return x, nil
}

// sampleValue returns the value of a counter, a gauge or an untyped metric.
func sampleValue(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := make(map[string]string)
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

func (x *Exposition) add(name string, labels map[string]string, m *dto.Metric) error {
	created := m.GetCounter().GetCreatedTimestamp()
	var err error
	put := func(name string, value float64, more ...string) {
		with := maps.Clone(labels)
		for i := 0; i < len(more); i += 2 {
			with[more[i]] = more[i+1]
		}
		switch first := x.samples.put(name, with, value); {
		case !first:
			err = fmt.Errorf("%s is shown twice", seriesOf(name, with))
		case math.IsNaN(value) || math.IsInf(value, 0):
			err = fmt.Errorf("%s is %v", seriesOf(name, with), value)
		}
	}
	if h := m.GetHistogram(); h == nil {
		put(name, sampleValue(m))
	} else {
		created = h.GetCreatedTimestamp()
		put(name+"_count", float64(h.GetSampleCount()))
		put(name+"_sum", h.GetSampleSum())
		all := h.GetSampleCount() // Without a sample count, the last bucket has it.
		for _, b := range h.GetBucket() {
			if math.IsInf(b.GetUpperBound(), 1) {
				all = b.GetCumulativeCount()
			} else {
				put(name+"_bucket", float64(b.GetCumulativeCount()), "le", float(b.GetUpperBound()))
			}
		}
		put(name+"_bucket", float64(all), "le", "+Inf")
		for cell, n := range cellsOf(h) {
			x.native = true
			put(name+"_bucket", float64(n), "cell", cell)
		}
	}
	if created != nil {
		x.created.put(name, labels, seconds(created.AsTime()))
	}
	return err
}

// cellsOf returns the cells of a native histogram, none for a classic one.
func cellsOf(h *dto.Histogram) map[string]int64 {
	if h.Schema == nil {
		return nil
	}
	cells := map[string]int64{"zero": int64(h.GetZeroCount())}
	at, n, i := int32(0), int64(0), 0
	for _, span := range h.GetPositiveSpan() {
		at += span.GetOffset()
		for range span.GetLength() {
			if i < len(h.GetPositiveDelta()) {
				n += h.GetPositiveDelta()[i]
			}
			cells[strconv.Itoa(int(at))] = n
			at, i = at+1, i+1
		}
	}
	return cells
}

// seconds returns a time as metrics show it.
func seconds(t time.Time) float64 { return per(t.UnixNano(), 1_000_000_000) }

// seriesOf formats a series as in the text format, with sorted labels.
func seriesOf(metric string, labels map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&b, ",%s=%q", name, labels[name])
	}
	if b.Len() == 0 {
		return metric
	}
	return metric + "{" + b.String()[1:] + "}"
}
