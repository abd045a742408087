package metrics_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/metrics"
)

// record is a source in memory. It adds changes up as the ledger does, but without caps.
type record struct {
	events int64
	rows   map[string]map[string]ledger.Counter // by measure and the JSON text of the values
}

// began returns the time of the first event; each further one is a second later.
func began() time.Time { return time.Unix(1_000_000_000, 0).UTC() }

func at(event int64) string {
	return began().Add(time.Duration(event-1) * time.Second).Format(ledger.TimeFormat)
}

// record adds the changes of one event.
func (b *record) record(changes ...counters.Change) {
	b.events++
	for _, c := range changes {
		if b.rows == nil {
			b.rows = make(map[string]map[string]ledger.Counter)
		}
		if b.rows[c.Measure.Name] == nil {
			b.rows[c.Measure.Name] = make(map[string]ledger.Counter)
		}
		rows, key := b.rows[c.Measure.Name], text(c.Values)
		row := ledger.Counter{Values: c.Values, Sum: rows[key].Sum + c.Add, Seq: b.events, At: at(b.events), Exemplar: c.Exemplar}
		if rows[key] = row; row.Sum == 0 {
			delete(rows, key)
		}
	}
}

func text(values []string) string {
	data, err := json.Marshal(values)
	if err != nil {
		panic(err) // The values are strings.
	}
	return string(data)
}

func (b *record) Counters(_ context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	t := ledger.Counters{Events: b.events}
	if b.events > 0 {
		t.Since, t.Until = at(1), at(b.events)
	}
	for _, q := range queries {
		var found []ledger.Counter
		for _, row := range b.rows[q.Measure] {
			if len(row.Values) >= len(q.Prefix) && slices.Equal(row.Values[:len(q.Prefix)], q.Prefix) {
				found = append(found, row)
			}
		}
		slices.SortFunc(found, func(a, b ledger.Counter) int {
			if q.Descending {
				a, b = b, a
			}
			return strings.Compare(text(a.Values), text(b.Values))
		})
		t.Rows = append(t.Rows, found[:min(len(found), cmp.Or(q.Limit, len(found)))])
	}
	return t, nil
}

func one(m counters.Measure, values ...string) counters.Change { return several(1, m, values...) }

func several(n int64, m counters.Measure, values ...string) counters.Change {
	return counters.Change{Measure: m, Values: values, Add: n}
}

func gather(t testing.TB, s metrics.Source, o metrics.Options) []*dto.MetricFamily {
	t.Helper()
	families, err := collector(t, s, o).Gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return families
}

func collector(t testing.TB, s metrics.Source, o metrics.Options) *metrics.Collector {
	t.Helper()
	c, err := metrics.New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// written returns the exposition of families.
func written(t testing.TB, families []*dto.MetricFamily, f metrics.Format) string {
	t.Helper()
	var b strings.Builder
	if err := metrics.Write(&b, families, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// family returns the family with that name, without Prefix, or nil.
func family(families []*dto.MetricFamily, name string) *dto.MetricFamily {
	for _, f := range families {
		if f.GetName() == metrics.Prefix+name {
			return f
		}
	}
	return nil
}

// example returns a record with series of every family, and matching options.
func example() (*record, metrics.Options) {
	b := &record{}
	sample := func(v int64) counters.Observation { return counters.Observation{Value: v, Task: "T-1", Round: 2} }
	b.record(
		one(counters.Adoptions(), "1.2.0", "sha256:aa"),
		one(counters.Policies(), "1.2.0", "sha256:aa", "ADR-0003"),
	)
	b.record(slices.Concat([]counters.Change{
		one(counters.Rounds(), "executor", "1.2.0"),
		one(counters.Verifications(), "green"),
		several(3, counters.Findings(), "style", "nit", "executor"),
		several(2, counters.Deferred(), "nit"),
		one(counters.Induced()),
		one(counters.Commits(), "risk"),
		several(3, counters.Progress(), "new"),
		one(counters.Stalled()),
		one(counters.Questions()),
		one(counters.Failures(), "plugin-timeout"),
		one(counters.PluginFailures(), "sarif", "plugin-timeout"),
		one(counters.Stops(), "budget"),
		one(counters.BudgetStops(), "task-time"),
		one(counters.Resumes(), "replan"),
		one(counters.Forced(), "draft"),
		one(counters.Tasks(), "stuck"),
		one(counters.BlockedTasks(), "stuck", at(2), "T-1", "budget"),
		one(counters.BudgetUse(), "task-time", "000875", "T-1"),
		one(counters.Spawns(), "critic", "claude", "findings"),
		one(counters.SpawnLevels(), "critic", "files"),
		one(counters.Fallbacks(), "critic", "quota"),
		one(counters.Retries(), "critic", "overloaded"),
		several(1200, counters.Tokens(), "critic", "in"),
		several(1_500_000, counters.MicroDollars(), "critic"),
		one(counters.Measure{Name: ledger.OverflowMeasure}, "category"),
	},
		counters.QuestionWaits().Observe(sample(5_000)),
		counters.SpawnRuns().Observe(sample(61_000)),
		counters.PluginRuns().Observe(sample(700), "np-critic"),
		counters.Evaluations().Observe(sample(300)),
		counters.TaskRounds().Observe(sample(3)),
	)...)
	return b, metrics.Options{
		Seed: metrics.Seed{
			Actions: []string{"executor", "commit"}, PolicyVersions: []string{"1.2.0"},
			Routes:  map[string]string{"style": "executor"},
			Agents:  []metrics.SeedAgent{{Name: "critic", Reviews: true, Adapters: []string{"claude"}}, {Name: "researcher", Adapters: []string{"codex"}}},
			Plugins: []string{"np-critic"},
		},
		Build: metrics.Build{Version: "1.0.0", Go: "go1.26"},
	}
}
