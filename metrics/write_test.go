package metrics_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/counters"
	"github.com/switchyard-dev/switchyard/metrics"
)

// wants compares the lines of an exposition that contain a word, without HELP.
func wants(t *testing.T, exposition, word, want string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(exposition) {
		if strings.Contains(line, word) && !strings.HasPrefix(line, "# HELP") {
			got = append(got, line)
		}
	}
	if text := strings.Join(got, ""); text != strings.TrimPrefix(want, "\n") {
		t.Errorf("lines with %s are\n%s", word, text)
	}
}

// TestHistogramWritten has values on both sides of bounds: 0, exactly a bound, a
// microsecond more, and beyond the last bound.
func TestHistogramWritten(t *testing.T) {
	b := &record{}
	for i, micros := range []int64{0, 500_000, 500_001, 40_000_000} {
		b.record(counters.PluginRuns().Observe(counters.Observation{Value: micros, Task: "T", Round: i + 1}, "sarif")...)
	}
	families := gather(t, b, metrics.Options{})
	wants(t, written(t, families, metrics.Text), "plugin_duration", `
# TYPE switchyard_plugin_duration_seconds histogram
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.0009765625"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.001953125"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.00390625"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.0078125"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.015625"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.03125"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.0625"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.125"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.25"} 1
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.5"} 2
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="1"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="2"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="4"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="8"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="16"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="32"} 3
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="+Inf"} 4
switchyard_plugin_duration_seconds_sum{plugin="sarif"} 41.000001
switchyard_plugin_duration_seconds_count{plugin="sarif"} 4
`)
	// A value of 0 is shown in the first bucket, which counts it.
	open := written(t, families, metrics.OpenMetrics)
	wants(t, open, `{round=`, `
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.0009765625"} 1 # {round="1",task="T"} 0.0 1e+09
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="0.5"} 2 # {round="2",task="T"} 0.5 1.000000001e+09
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="1.0"} 3 # {round="3",task="T"} 0.500001 1.000000002e+09
switchyard_plugin_duration_seconds_bucket{plugin="sarif",le="+Inf"} 4 # {round="4",task="T"} 40.0 1.000000003e+09
`)
	wants(t, open, "plugin_duration_seconds_c", `
switchyard_plugin_duration_seconds_count{plugin="sarif"} 4
switchyard_plugin_duration_seconds_created{plugin="sarif"} 1e+09
`)
}

func TestCountersAndGaugesWritten(t *testing.T) {
	b, o := example()
	b.record(one(counters.BlockedTasks(), "waiting", at(9), "T-3", "askuser"), one(counters.BlockedTasks(), "waiting", at(5), "T-2", "askuser"))
	b.record(one(counters.BudgetUse(), "task-time", "001250", "T-2"), one(counters.PluginFailures(), "sarif", "timeout"))
	o.Labels = map[string]string{"repository": "a\"b\\c\nd", "Team": "x"}
	all := written(t, gather(t, b, o), metrics.Text)
	for word, want := range map[string]string{
		"_oldest_": `
# TYPE switchyard_tasks_oldest_timestamp_seconds gauge
switchyard_tasks_oldest_timestamp_seconds{Team="x",repository="a\"b\\c\nd",status="stuck"} 1.000000001e+09
switchyard_tasks_oldest_timestamp_seconds{Team="x",repository="a\"b\\c\nd",status="waiting"} 1.000000004e+09
`,
		"_ratio_": `
# TYPE switchyard_budget_used_ratio_max gauge
switchyard_budget_used_ratio_max{Team="x",budget="task-time",repository="a\"b\\c\nd"} 1.25
`,
		`plugin="sarif",repository`: `
switchyard_plugin_failures_total{Team="x",plugin="sarif",repository="a\"b\\c\nd",type="timeout"} 2
`,
		"_last_event_": `
# TYPE switchyard_ledger_last_event_timestamp_seconds gauge
switchyard_ledger_last_event_timestamp_seconds{Team="x",repository="a\"b\\c\nd"} 1.000000003e+09
`,
		"_adopted_": `
# TYPE switchyard_policy_adopted_timestamp_seconds gauge
switchyard_policy_adopted_timestamp_seconds{Team="x",digest="sha256:aa",repository="a\"b\\c\nd",version="1.2.0"} 1e+09
`,
	} {
		wants(t, all, word, want)
	}
	open := written(t, gather(t, b, o), metrics.OpenMetrics)
	wants(t, open, "_dollars", `
# TYPE switchyard_spawn_cost_dollars counter
# UNIT switchyard_spawn_cost_dollars dollars
switchyard_spawn_cost_dollars_total{Team="x",agent="critic",repository="a\"b\\c\nd"} 1.5
switchyard_spawn_cost_dollars_created{Team="x",agent="critic",repository="a\"b\\c\nd"} 1e+09
switchyard_spawn_cost_dollars_total{Team="x",agent="researcher",repository="a\"b\\c\nd"} 0.0
switchyard_spawn_cost_dollars_created{Team="x",agent="researcher",repository="a\"b\\c\nd"} 1e+09
`)
	if !strings.HasSuffix(open, "\n# EOF\n") || strings.Contains(all, "# EOF") || strings.Contains(all, "_created") {
		t.Error("an exposition is not in its format")
	}
}

// TestKnownSeriesBegin checks that seeded series are exported as 0 before anything is
// recorded.
func TestKnownSeriesBegin(t *testing.T) {
	_, o := example()
	families := gather(t, &record{}, o)
	all := written(t, families, metrics.Text)
	wants(t, all, "_spawns_", `
# TYPE switchyard_spawns_total counter
switchyard_spawns_total{adapter="claude",agent="critic",outcome="clean"} 0
switchyard_spawns_total{adapter="claude",agent="critic",outcome="critic-error"} 0
switchyard_spawns_total{adapter="claude",agent="critic",outcome="findings"} 0
switchyard_spawns_total{adapter="claude",agent="critic",outcome="lost"} 0
switchyard_spawns_total{adapter="codex",agent="researcher",outcome="failed"} 0
switchyard_spawns_total{adapter="codex",agent="researcher",outcome="lost"} 0
switchyard_spawns_total{adapter="codex",agent="researcher",outcome="ok"} 0
`)
	wants(t, all, "_rounds_total", `
# TYPE switchyard_rounds_total counter
switchyard_rounds_total{next_action="commit",policy_version="1.2.0"} 0
switchyard_rounds_total{next_action="executor",policy_version="1.2.0"} 0
`)
	wants(t, all, "findings_total", `
# TYPE switchyard_findings_total counter
switchyard_findings_total{category="style",route="executor",severity="fail"} 0
switchyard_findings_total{category="style",route="executor",severity="nit"} 0
switchyard_findings_total{category="style",route="executor",severity="risk"} 0
`)
	for line := range strings.Lines(all) {
		if !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, " 0\n") && !strings.HasPrefix(line, "switchyard_build_info{") {
			t.Errorf("nothing was recorded, and there is %s", line)
		}
	}
	for _, name := range []string{
		"ledger_last_event_timestamp_seconds", "tasks_oldest_timestamp_seconds", "budget_used_ratio_max",
		"policy_info", "policy_adopted_timestamp_seconds",
	} {
		if family(families, name) != nil {
			t.Errorf("%s has a series before anything was recorded", name)
		}
	}
	if open := written(t, families, metrics.OpenMetrics); strings.Contains(open, "_created") {
		t.Error("without events nothing says since when it counts")
	}
}

// TestVersionsThatDecided checks that every version with a decision has series for all
// destinations, whichever policy decides now.
func TestVersionsThatDecided(t *testing.T) {
	b, o := example()
	b.record(one(counters.Rounds(), "askuser", "1.1.0"))
	wants(t, written(t, gather(t, b, o), metrics.Text), `policy_version="1.1.0"`, `
switchyard_rounds_total{next_action="askuser",policy_version="1.1.0"} 1
switchyard_rounds_total{next_action="commit",policy_version="1.1.0"} 0
switchyard_rounds_total{next_action="executor",policy_version="1.1.0"} 0
`)
}

// TestKnownIsVisible checks that a policy cannot put hidden characters into labels.
func TestKnownIsVisible(t *testing.T) {
	all := written(t, gather(t, &record{}, metrics.Options{Seed: metrics.Seed{Routes: map[string]string{"a\u202eb\n": "executor"}}}), metrics.Text)
	wants(t, all, "findings_total", `
# TYPE switchyard_findings_total counter
switchyard_findings_total{category="a<U+202E>b ",route="executor",severity="fail"} 0
switchyard_findings_total{category="a<U+202E>b ",route="executor",severity="nit"} 0
switchyard_findings_total{category="a<U+202E>b ",route="executor",severity="risk"} 0
`)
}

// TestKnownIsBounded checks that a policy with more categories than the ledger's cap adds
// no further series.
func TestKnownIsBounded(t *testing.T) {
	routes := make(map[string]string)
	for i := range 1000 {
		routes[strings.Repeat("x", i+1)] = "executor"
	}
	families := gather(t, &record{}, metrics.Options{Seed: metrics.Seed{Routes: routes, Plugins: []string{"p", "p"}}})
	if n := len(family(families, "findings_total").Metric); n != 300 {
		t.Errorf("there are %d series of findings", n)
	}
	if n := len(family(families, "plugin_duration_seconds").Metric); n != 1 {
		t.Errorf("a plugin that is named twice has %d series", n)
	}
}

func TestWriteReports(t *testing.T) {
	b, o := example()
	families := gather(t, b, o)
	broken := errors.New("broken")
	for _, f := range metrics.Formats() {
		for _, after := range []int{0, 10_000} {
			if err := metrics.Write(&failing{after, broken}, families, f); !errors.Is(err, broken) {
				t.Errorf("%s: a writer that fails after %d bytes: %v", f, after, err)
			}
		}
	}
	kind := dto.MetricType_COUNTER
	name := "x_total"
	odd := []*dto.MetricFamily{{Name: &name, Type: &kind, Metric: []*dto.Metric{{}}}}
	if err := metrics.Write(io.Discard, odd, metrics.Text); err == nil {
		t.Error("a counter without a value was written")
	}
}

// failing accepts some bytes and then fails.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}
