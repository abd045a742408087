package counters_test

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// all returns every measure of the package, with those of distributions as they are
// stored.
func all() []counters.Measure {
	measures := []counters.Measure{
		counters.Rounds(), counters.Verifications(), counters.Findings(), counters.Deferred(), counters.Induced(), counters.Commits(), counters.Progress(), counters.Stalled(), counters.Stops(),
		counters.BudgetStops(), counters.Resumes(), counters.Forced(), counters.Questions(), counters.Failures(), counters.PluginFailures(),
		counters.Spawns(), counters.SpawnLevels(), counters.Fallbacks(), counters.Retries(), counters.Tokens(), counters.MicroDollars(), counters.Tasks(),
		counters.BlockedTasks(), counters.BudgetUse(), counters.Policies(), counters.Adoptions(), counters.DailyRounds(), counters.Daily(),
	}
	for _, d := range []counters.Distribution{
		counters.QuestionWaits(), counters.PluginRuns(), counters.Evaluations(), counters.SpawnRuns(), counters.TaskRounds(),
	} {
		measures = append(measures, d.Cells(), d.Sum())
	}
	return measures
}

// TestMeasuresKeepTheRules checks the rules of Measure and Dimension, so that the ledger
// accepts all measures, and that their names are unique.
func TestMeasuresKeepTheRules(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	seen := make(map[string]bool)
	caps := make(map[string]int)
	for _, m := range all() {
		if seen[m.Name] || !name.MatchString(m.Name) || m.Name == "label" || m.Name == "overflow" {
			t.Errorf("a measure is named %q", m.Name)
		}
		seen[m.Name] = true
		labels := make(map[string]bool)
		for _, d := range m.Labels {
			if labels[d.Name] || !name.MatchString(d.Name) || d.Cap < 0 {
				t.Errorf("the measure %s has the dimension %+v", m.Name, d)
			}
			labels[d.Name] = true
			if limit, ok := caps[d.Name]; ok && limit != d.Cap {
				t.Errorf("the dimension %s has the caps %d and %d", d.Name, limit, d.Cap)
			}
			caps[d.Name] = d.Cap
		}
	}
}

func TestAnObservationCountsItsCellAndItsSum(t *testing.T) {
	values := make([]string, 1, 4) // with capacity that must not be written to
	values[0] = "go-vet"
	got := counters.PluginRuns().Observe(counters.Observation{Value: 1_000_000, Task: "a", Round: 2}, values...)
	want := []counters.Change{
		{
			Measure: counters.PluginRuns().Cells(), Values: []string{"go-vet", "0"}, Add: 1,
			Exemplar: jsontext.Value(`{"value":1000000,"task":"a","round":2}`),
		},
		{Measure: counters.PluginRuns().Sum(), Values: []string{"go-vet"}, Add: 1_000_000},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Observe gives %+v", got)
	}
	if extra := values[:2]; extra[1] != "" {
		t.Errorf("Observe wrote %q behind its argument", extra[1])
	}
	back := counters.QuestionWaits().Observe(counters.Observation{Value: -5, Task: "a"})
	if back[0].Values[0] != "zero" || back[1].Add != 0 || string(back[0].Exemplar) != `{"value":0,"task":"a"}` {
		t.Errorf("of a clock that was set back Observe gives %+v", back)
	}
	longest := counters.QuestionWaits().Observe(counters.Observation{Value: math.MaxInt64, Task: strings.Repeat("a", 128), Round: math.MaxInt})
	if len(longest[0].Exemplar) > counters.MaxExemplar {
		t.Errorf("a note has %d bytes", len(longest[0].Exemplar))
	}
}
