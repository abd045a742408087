package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
)

// handler is the client.MetricsHandler of a set of tags. It is safe for concurrent use.
type handler struct {
	metrics map[string]metric
	tags    map[string]string
}

// metric has one vector, for its kind.
type metric struct {
	counters   *prometheus.CounterVec
	gauges     *prometheus.GaugeVec
	histograms *prometheus.HistogramVec
	labels     []string
}

// newHandler registers the metrics, under the names of the SDK's exporter for Prometheus:
// https://docs.temporal.io/references/sdk-metrics.
func newHandler(registry *prometheus.Registry) *handler {
	h := &handler{metrics: make(map[string]metric)}
	for _, d := range descriptions() {
		m := metric{labels: d.labels}
		switch d.kind {
		case counter:
			m.counters = prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.name + "_total", Help: d.help}, d.labels)
			registry.MustRegister(m.counters)
		case gauge:
			m.gauges = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.name, Help: d.help}, d.labels)
			registry.MustRegister(m.gauges)
		case timer:
			m.histograms = prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name: d.name + "_seconds", Help: d.help,
				// Requests take milliseconds and orders may wait for days: 4 ms to 18 h.
				Buckets: prometheus.ExponentialBuckets(1./256, 4, 13),
			}, d.labels)
			registry.MustRegister(m.histograms)
		}
		h.metrics[d.name] = m
	}
	return h
}

// WithTags implements client.MetricsHandler.
func (h *handler) WithTags(tags map[string]string) client.MetricsHandler {
	all := make(map[string]string, len(h.tags)+len(tags))
	maps.Copy(all, h.tags)
	maps.Copy(all, tags)
	return &handler{h.metrics, all}
}

// Counter implements client.MetricsHandler.
func (h *handler) Counter(name string) client.MetricsCounter {
	m := h.metrics[name]
	if m.counters == nil {
		return client.MetricsNopHandler.Counter(name)
	}
	c := m.counters.WithLabelValues(h.values(m.labels)...)
	return counterFunc(func(n int64) { c.Add(float64(n)) })
}

// Gauge implements client.MetricsHandler.
func (h *handler) Gauge(name string) client.MetricsGauge {
	m := h.metrics[name]
	if m.gauges == nil {
		return client.MetricsNopHandler.Gauge(name)
	}
	return gaugeFunc(m.gauges.WithLabelValues(h.values(m.labels)...).Set)
}

// Timer implements client.MetricsHandler.
func (h *handler) Timer(name string) client.MetricsTimer {
	m := h.metrics[name]
	if m.histograms == nil {
		return client.MetricsNopHandler.Timer(name)
	}
	o := m.histograms.WithLabelValues(h.values(m.labels)...)
	return timerFunc(func(d time.Duration) { o.Observe(d.Seconds()) })
}

// values returns the values of labels. Clients of the server choose the types of workflows and
// activities, so unknown types become other.
func (h *handler) values(labels []string) []string {
	values := make([]string, len(labels))
	for i, label := range labels {
		values[i] = h.tags[label]
		if known := types()[label]; known != nil && !slices.Contains(known, values[i]) {
			values[i] = other
		}
	}
	return values
}

func types() map[string][]string {
	return map[string][]string{
		"workflow_type": {flow.Workflow},
		"activity_type": append(flow.Orders(), flow.Advance),
	}
}

type counterFunc func(int64)

func (f counterFunc) Inc(n int64) { f(n) }

type gaugeFunc func(float64)

func (f gaugeFunc) Update(v float64) { f(v) }

type timerFunc func(time.Duration)

func (f timerFunc) Record(d time.Duration) { f(d) }
