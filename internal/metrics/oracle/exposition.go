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

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Exposition is what was shown of a ledger at one moment.
type Exposition struct {
	// Events is how many events the ledger had then.
	Events int64
	// Series is how many there are, a histogram being one.
	Series  int
	samples samples
	// native says that histograms are shown with the cells of native ones.
	native bool
	// created are the times since which something is counted, by the series.
	created samples
}

// eventsTotal says of which moment an exposition is. It has no labels of its own.
const eventsTotal = prefix + "ledger_events_total"

// Parse reads an exposition in the text format, with as much else in it as there may
// be.
//
// # Errors
//
// Those of Gathered.
func Parse(r io.Reader) (Exposition, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return Exposition{}, invalid("%w", err)
	}
	return Gathered(slices.Collect(maps.Values(families)))
}

func invalid(format string, args ...any) error {
	return errs.New(errs.MetricsExpositionInvalid, "the exposition cannot be compared: "+format, args...)
}

// Gathered is the exposition of families as a collector gives them. Where all series
// were given labels besides their own, these are left out.
//
// # Errors
//
// metrics-exposition-invalid, also for the metrics of several ledgers.
func Gathered(families []*dto.MetricFamily) (Exposition, error) {
	x := Exposition{samples: make(samples), created: make(samples)}
	at := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == eventsTotal })
	if at < 0 || len(families[at].GetMetric()) == 0 {
		return Exposition{}, invalid("it lacks %s, which says of which moment it is", eventsTotal)
	}
	if n := len(families[at].GetMetric()); n != 1 {
		return Exposition{}, invalid("it has %s %d times: the metrics of several ledgers", eventsTotal, n)
	}
	events := families[at].GetMetric()[0]
	n := number(events)
	if !(n >= 0 && n < 1<<53 && n == math.Trunc(n)) {
		return Exposition{}, invalid("%s is %v", eventsTotal, n)
	}
	x.Events = int64(n)
	given := labelsOf(events) // It has none of its own.
	for _, f := range families {
		// Who runs it is not in the events.
		if !strings.HasPrefix(f.GetName(), prefix) || f.GetName() == prefix+"build_info" {
			continue
		}
		for _, m := range f.GetMetric() {
			x.Series++
			labels := labelsOf(m)
			for name, value := range given {
				if labels[name] != value {
					return Exposition{}, invalid("%s lacks the label %s, which others have", f.GetName(), name)
				}
				delete(labels, name)
			}
			if err := x.add(f.GetName(), labels, m); err != nil {
				return Exposition{}, err
			}
		}
	}
	return x, nil
}

// number is the value of a counter, a gauge or a metric of no known type.
func number(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := make(map[string]string)
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

// add adds the samples of a series.
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
			err = invalid("it has %s twice", seriesOf(name, with))
		case math.IsNaN(value) || math.IsInf(value, 0):
			err = invalid("%s is %v", seriesOf(name, with), value)
		}
	}
	if h := m.GetHistogram(); h == nil {
		put(name, number(m))
	} else {
		created = h.GetCreatedTimestamp()
		put(name+"_count", float64(h.GetSampleCount()))
		put(name+"_sum", h.GetSampleSum())
		all := h.GetSampleCount() // What does not say so has it for the last bucket.
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

// cellsOf reads the cells of a native histogram, and none of one that is only a
// classic one.
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

// seconds is a time as metrics have it.
func seconds(t time.Time) float64 { return per(t.UnixNano(), 1_000_000_000) }

// seriesOf writes a series as the text format does, its labels in order.
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
