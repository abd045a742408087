package metrics_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// emptyLedger does not have counters. A *host.Engine has the counters of its project.
type emptyLedger struct{}

func (emptyLedger) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	return ledger.Counters{Rows: make([][]ledger.Counter, len(queries))}, nil
}

// Mount the metrics of a project in a registry.
func Example() {
	collector, err := metrics.New(emptyLedger{}, metrics.Options{Labels: map[string]string{"project": "shop"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	var text strings.Builder
	if err := metrics.Write(&text, families, metrics.Text); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "switchyard_ledger_events_total") {
			fmt.Fprint(os.Stdout, line)
		}
	}
	// Output: switchyard_ledger_events_total{project="shop"} 0
}
