package monitoring

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/switchyard-dev/switchyard/metrics"
)

// series are the values of samples by their names and labels, as name{a="b"}.
type series map[string]float64

// keyOf returns the key of a sample, without the labels that distinguish the exporters.
func keyOf(name string, labels map[string]string) string {
	var b strings.Builder
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		switch label {
		case model.MetricNameLabel, "job", "instance", "project":
			continue
		}
		fmt.Fprintf(&b, "%s=%q,", label, labels[label])
	}
	return name + "{" + strings.TrimSuffix(b.String(), ",") + "}"
}

// parse parses the text format, as far as our metrics use it.
func parse(text []byte) (series, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	all := make(series)
	for name, family := range families {
		if !strings.HasPrefix(name, metrics.Prefix) {
			continue
		}
		for _, m := range family.GetMetric() {
			all.add(name, m)
		}
	}
	return all, nil
}

// add adds the samples of a metric.
func (s series) add(name string, m *dto.Metric) {
	labels := make(map[string]string)
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	switch {
	case m.Counter != nil:
		s[keyOf(name, labels)] = m.GetCounter().GetValue()
	case m.Gauge != nil:
		s[keyOf(name, labels)] = m.GetGauge().GetValue()
	case m.Histogram != nil:
		h := m.GetHistogram()
		s[keyOf(name+"_count", labels)] = float64(h.GetSampleCount())
		s[keyOf(name+"_sum", labels)] = h.GetSampleSum()
		for _, b := range h.GetBucket() {
			labels["le"] = borderText(b.GetUpperBound())
			s[keyOf(name+"_bucket", labels)] = float64(b.GetCumulativeCount())
		}
	}
}

// borderText formats a bucket's bound uniformly, whatever the exposition format.
func borderText(le float64) string { return fmt.Sprint(le) }

// differences lists the differences between got and want, in any order.
func (want series) differences(got series) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, ok := got[key]
		switch {
		case !ok:
			all = append(all, "there is no "+key)
		case value != want[key] && !(math.IsNaN(value) && math.IsNaN(want[key])):
			all = append(all, fmt.Sprintf("%s is %v, not %v", key, value, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			all = append(all, "there is also "+key)
		}
	}
	return all
}

// fallen lists the monotonic series that are less than before, or missing.
func (before series) fallen(now series) []string {
	falls := make(map[string]bool)
	for _, f := range metrics.Families() {
		falls[f.Name] = f.Kind == metrics.Gauge
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(before)) {
		name, _, _ := strings.Cut(key, "{")
		if falls[name] {
			continue
		}
		if value, ok := now[key]; !ok || value < before[key] {
			all = append(all, fmt.Sprintf("%s fell from %v to %v (there: %v)", key, before[key], value, ok))
		}
	}
	return all
}
