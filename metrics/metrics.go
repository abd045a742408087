// Package metrics exports the counters of a ledger to Prometheus.
//
// Families describes all metrics. A Collector reads their counters from a Source, as of one
// moment. It has no state, so that every process exports the same numbers (ADR-0019).
// Register it in a prometheus.Registry, or use a Project, which exports the metrics as the
// project's configuration says.
package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Prefix is the prefix of every metric name.
const Prefix = "switchyard_"

// Source returns the counters of a ledger. Ledgers and engines implement it.
type Source = ledger.CounterSource
