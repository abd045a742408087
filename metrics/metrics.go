// Package metrics exports the counters of a ledger to Prometheus.
//
// Families describes all metrics. A Collector reads their counters from a Source, as of
// one moment, and keeps nothing itself: every process exports the same numbers
// (ADR-0019). Register it in a prometheus.Registry, or use Handler, WriteTextfile, or a
// Project, which also pushes, serves and publishes as the project's configuration says.
package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Prefix begins the name of every metric.
const Prefix = "switchyard_"

// Source has the counters of a ledger: a ledger, or an engine for its project.
type Source = ledger.CounterSource
