// Package metrics exports metrics of a process of a fleet to Prometheus: the orders that it
// carried out, the decisions that it made, and the metrics of Temporal's SDK.
package metrics

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.temporal.io/sdk/client"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/exporter"
)

// other is the value of a label for all values that the label does not distinguish.
const other = "other"

// maxNextActions limits the values of next_action: policies may have any.
const maxNextActions = 32

// Metrics are the metrics of one process. They are safe for concurrent use.
type Metrics struct {
	registry  *prometheus.Registry
	sdk       client.MetricsHandler
	orders    *prometheus.CounterVec
	durations *prometheus.HistogramVec
	decisions *prometheus.CounterVec

	mu   sync.Mutex
	next map[string]bool // values of next_action; guarded by mu
}

// New returns the metrics of a process of a version. The counts of all kinds of orders start
// at 0.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewPedanticRegistry(),
		orders: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "switchyard_fleet_orders_total",
			Help: "Orders that ended on this worker, by what they were for and how they ended.",
		}, []string{"kind", "outcome"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "switchyard_fleet_order_duration_seconds",
			Help: "Time that orders took on this worker, however they ended.",
			// As long as agents may take: 1 s to 9 h.
			Buckets:                     prometheus.ExponentialBuckets(1, 2, 16),
			NativeHistogramBucketFactor: 1.1,
		}, []string{"kind"}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "switchyard_fleet_decisions_total",
			Help: "Decisions that this home recorded, by where the task goes next.",
		}, []string{"next_action"}),
		next: make(map[string]bool),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "switchyard_fleet_build_info",
		Help:        "The program of this process, always 1.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.orders, m.durations, m.decisions, build)
	m.sdk = newHandler(m.registry)
	for _, name := range flow.Orders() {
		kind := strings.ToLower(name)
		for _, outcome := range []string{done, cancelled, failed, retried} {
			m.orders.WithLabelValues(kind, outcome)
		}
		m.durations.WithLabelValues(kind)
	}
	return m
}

// SDK returns the handler for client.Options.MetricsHandler. It exports metrics of the SDK
// under their documented names.
func (m *Metrics) SDK() client.MetricsHandler { return m.sdk }

// Decided counts a new decision.
func (m *Metrics) Decided(nextAction string) {
	m.mu.Lock()
	if len(m.next) < maxNextActions {
		m.next[nextAction] = true
	} else if !m.next[nextAction] {
		nextAction = other
	}
	m.mu.Unlock()
	m.decisions.WithLabelValues(nextAction).Inc()
}

// Serve answers scrapes until ctx is done, as `switchyard metrics serve` does.
//
// # Errors
//
// web-config-invalid and listen-failed, before ServeOptions.Started.
func (m *Metrics) Serve(ctx context.Context, o exporter.ServeOptions) error {
	gather := func(context.Context) ([]*dto.MetricFamily, error) { return m.registry.Gather() }
	return exporter.Run(ctx, exporter.Options{ServeOptions: o, Gather: gather})
}
