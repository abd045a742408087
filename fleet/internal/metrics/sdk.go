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

// metric is a metric of the SDK. with returns the change of the series with these label values.
type metric struct {
	description
	with func(values ...string) change
}

// newHandler registers the metrics, under the names of the SDK's exporter for Prometheus:
// https://docs.temporal.io/references/sdk-metrics.
func newHandler(registry *prometheus.Registry) *handler {
	h := &handler{metrics: make(map[string]metric)}
	for _, d := range descriptions() {
		m := metric{description: d}
		switch d.kind {
		case counter:
			v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.name + "_total", Help: d.help}, d.labels)
			registry.MustRegister(v)
			m.with = func(values ...string) change { return v.WithLabelValues(values...).Add }
		case gauge:
			v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.name, Help: d.help}, d.labels)
			registry.MustRegister(v)
			m.with = func(values ...string) change { return v.WithLabelValues(values...).Set }
		case timer:
			v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name: d.name + "_seconds", Help: d.help,
				// Requests take milliseconds and orders may wait for days: 4 ms to 18 h.
				Buckets: prometheus.ExponentialBuckets(1./256, 4, 13),
			}, d.labels)
			registry.MustRegister(v)
			m.with = func(values ...string) change { return v.WithLabelValues(values...).Observe }
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
func (h *handler) Counter(name string) client.MetricsCounter { return h.change(counter, name) }

// Gauge implements client.MetricsHandler.
func (h *handler) Gauge(name string) client.MetricsGauge { return h.change(gauge, name) }

// Timer implements client.MetricsHandler.
func (h *handler) Timer(name string) client.MetricsTimer { return h.change(timer, name) }

// change returns the change of a metric, which does nothing if the metric is not exported.
func (h *handler) change(k kind, name string) change {
	m, ok := h.metrics[name]
	if !ok || m.kind != k {
		return func(float64) {}
	}
	return m.with(h.values(m.labels)...)
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

// change takes the next value of a series.
type change func(float64)

// Inc implements client.MetricsCounter.
func (c change) Inc(n int64) { c(float64(n)) }

// Update implements client.MetricsGauge.
func (c change) Update(v float64) { c(v) }

// Record implements client.MetricsTimer.
func (c change) Record(d time.Duration) { c(d.Seconds()) }
