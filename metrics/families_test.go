package metrics_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/switchyard-dev/switchyard/metrics"
)

// contract lists every metric with its type and labels, which users rely on. A released
// name must stay.
const contract = `
budget_stops_total counter budget
budget_used_ratio_max gauge budget
build_info gauge version goversion
commits_total counter bar
finding_progress_total counter progress
findings_deferred_total counter severity
findings_induced_total counter
findings_total counter category severity route
forced_gates_total counter phase
label_overflow_total counter label
ledger_events_total counter
ledger_last_event_timestamp_seconds gauge
plugin_duration_seconds histogram plugin
plugin_failures_total counter plugin type
policy_adopted_timestamp_seconds gauge version digest
policy_adoptions_total counter version digest
policy_evaluation_seconds histogram
policy_info gauge version digest adr
question_wait_seconds histogram
questions_total counter
resumes_total counter mode
round_failures_total counter code
round_verifications_total counter verify
rounds_total counter next_action policy_version
rounds_without_progress_total counter
spawn_confinement gauge agent level
spawn_cost_dollars_total counter agent
spawn_duration_seconds histogram
spawn_fallbacks_total counter agent reason
spawn_retries_total counter agent reason
spawn_tokens_total counter agent direction
spawns_total counter agent adapter outcome
stuck_total counter reason
task_rounds histogram
tasks gauge status
tasks_oldest_timestamp_seconds gauge status
`

func TestFamiliesAreTheContract(t *testing.T) {
	var got strings.Builder
	got.WriteString("\n")
	for _, f := range metrics.Families() {
		words := []string{strings.TrimPrefix(f.Name, metrics.Prefix), string(f.Kind)}
		for _, l := range f.Labels {
			words = append(words, l.Name)
		}
		got.WriteString(strings.Join(words, " ") + "\n")
	}
	if got.String() != contract {
		t.Errorf("families are%s", got.String())
	}
}

func TestFamiliesFollowTheConventions(t *testing.T) {
	label := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, f := range metrics.Families() {
		if !strings.HasPrefix(f.Name, metrics.Prefix) || !label.MatchString(f.Name) {
			t.Errorf("%s is no name", f.Name)
		}
		if !strings.HasSuffix(f.Help, ".") || strings.Count(f.Help, ".") != 1 || len(f.Help) > 140 {
			t.Errorf("%s: help %q is not one short sentence", f.Name, f.Help)
		}
		if (f.Kind == metrics.Counter) != strings.HasSuffix(f.Name, "_total") {
			t.Errorf("%s is a %s", f.Name, f.Kind)
		}
		// OpenMetrics: the name ends in the unit, except for _total.
		for _, unit := range []string{"seconds", "dollars"} {
			if has := strings.HasSuffix(strings.TrimSuffix(f.Name, "_total"), "_"+unit); has != (f.Unit == unit) {
				t.Errorf("%s has the unit %q", f.Name, f.Unit)
			}
		}
		if (f.Kind == metrics.Histogram) != (len(f.Buckets) > 0) || !slices.IsSorted(f.Buckets) {
			t.Errorf("%s has the buckets %v", f.Name, f.Buckets)
		}
		for _, l := range f.Labels {
			if !label.MatchString(l.Name) || l.Name == "le" || !slices.IsSorted(l.Values) {
				t.Errorf("%s has the label %v", f.Name, l)
			}
		}
	}
}

func TestBucketsAreAsDocumented(t *testing.T) {
	for name, want := range map[string]struct {
		first, last float64
		n           int
	}{
		"question_wait_seconds":     {1, 1 << 20, 11},
		"spawn_duration_seconds":    {1, 1 << 12, 13},
		"plugin_duration_seconds":   {1.0 / (1 << 10), 1 << 5, 16},
		"policy_evaluation_seconds": {1.0 / (1 << 16), 1 << 2, 10},
		"task_rounds":               {1, 100, 10},
	} {
		f, _ := familyNamed(metrics.Prefix + name)
		if n := len(f.Buckets); n != want.n || f.Buckets[0] != want.first || f.Buckets[n-1] != want.last {
			t.Errorf("%s has the buckets %v", name, f.Buckets)
		}
	}
}

// TestLinterIsContent runs the linter on series of every family.
func TestLinterIsContent(t *testing.T) {
	b, o := example()
	families := gather(t, b, o)
	if len(families) != len(metrics.Families()) {
		t.Fatalf("the example has %d families of %d", len(families), len(metrics.Families()))
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func familyNamed(name string) (metrics.Family, bool) {
	all := metrics.Families()
	i := slices.IndexFunc(all, func(f metrics.Family) bool { return f.Name == name })
	if i < 0 {
		return metrics.Family{}, false
	}
	return all[i], true
}
