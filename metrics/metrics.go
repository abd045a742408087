// Package metrics shows the sums that the ledger keeps as metrics of Prometheus.
//
// Families describes all metrics, once: the collector, the exposition, the recording
// rules, the dashboard and the table in docs/metrics.md are made from it. A Collector
// reads the sums from a Source, as of one moment, and folds each metric from them. It
// keeps nothing itself, so that a metric is right whichever process shows it, and as
// often as it is asked for (ADR-0019).
package metrics

import (
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Prefix begins the name of every metric.
const Prefix = "switchyard_"

// Source has the counters of a ledger: a ledger, or an engine for its project.
type Source = ledger.CounterSource
