package stats_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// memLedger keeps counters in memory as the ledger does, but without caps. Its zero value
// has no events. It must not be read while an event is recorded.
type memLedger struct {
	events       int64
	since, until string
	// sums are by measure, then by the JSON of the values.
	sums map[string]map[string]ledger.Counter
}

// Record adds an event that counts the changes.
func (l *memLedger) Record(at time.Time, changes ...counters.Change) {
	l.events++
	l.until = at.UTC().Format(ledger.TimeFormat)
	if l.since == "" {
		l.since, l.sums = l.until, make(map[string]map[string]ledger.Counter)
	}
	for _, c := range changes {
		of := l.sums[c.Measure.Name]
		if of == nil {
			of = make(map[string]ledger.Counter)
			l.sums[c.Measure.Name] = of
		}
		key := keyOf(c.Values)
		sum := of[key].Sum + c.Add
		if sum == 0 {
			delete(of, key)
			continue
		}
		of[key] = ledger.Counter{Values: slices.Clone(c.Values), Sum: sum, At: l.until, Exemplar: c.Exemplar}
	}
}

func keyOf(values []string) string {
	text, err := json.Marshal(values, json.Deterministic(true))
	if err != nil {
		panic(err) // A test has a value that is not UTF-8.
	}
	return string(text)
}

// Counters answers as ledger.Ledger does, but only queries without a prefix.
func (l *memLedger) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t := ledger.Counters{Events: l.events, Since: l.since, Until: l.until, Rows: make([][]ledger.Counter, len(queries))}
	for i, q := range queries {
		of := l.sums[q.Measure]
		for _, key := range slices.Sorted(maps.Keys(of)) {
			t.Rows[i] = append(t.Rows[i], of[key])
		}
		if q.Limit > 0 && q.Limit < len(t.Rows[i]) {
			t.Rows[i] = t.Rows[i][:q.Limit]
		}
	}
	return t, nil
}
