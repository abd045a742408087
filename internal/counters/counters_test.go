package counters_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/counters"
)

// all returns every measure of the package, by the function that returns it, with those of
// distributions as they are stored.
func all() map[string][]counters.Measure {
	measures := make(map[string][]counters.Measure)
	for _, f := range []func() counters.Measure{
		counters.Rounds, counters.Verifications, counters.Findings, counters.Deferred, counters.Induced, counters.Progress, counters.Stalled,
		counters.Stops, counters.BudgetStops, counters.Resumes, counters.Forced, counters.Questions, counters.Failures, counters.PluginFailures,
		counters.Spawns, counters.SpawnLevels, counters.Fallbacks, counters.Retries, counters.Tokens, counters.MicroDollars,
		counters.Tasks, counters.Commits, counters.BlockedTasks, counters.BudgetUse, counters.Policies, counters.Categories,
		counters.Destinations, counters.Adoptions, counters.DailyRounds, counters.Daily,
	} {
		measures[nameOf(f)] = []counters.Measure{f()}
	}
	for _, f := range []func() counters.Distribution{
		counters.QuestionWaits, counters.PluginRuns, counters.Evaluations, counters.SpawnRuns, counters.TaskRounds,
	} {
		measures[nameOf(f)] = []counters.Measure{f().Cells(), f().Sum()}
	}
	return measures
}

func nameOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// TestMeasuresKeepTheRules checks the rules of Measure and Dimension for all measures of
// the source, since the ledger does not: the form of names, that each measure has a name
// of its own, which is not one of the ledger's, and that each dimension has one cap.
func TestMeasuresKeepTheRules(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	seen := map[string]bool{"label": true, "overflow": true}
	caps := make(map[string]int)
	listed := all()
	for _, m := range slices.Concat(slices.Collect(maps.Values(listed))...) {
		if seen[m.Name] || !name.MatchString(m.Name) {
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

	source, err := parser.ParseFile(token.NewFileSet(), "measures.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range source.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.IsExported() && listed[f.Name.Name] == nil {
			t.Errorf("the measure %s is not checked", f.Name.Name)
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
	tampered := counters.QuestionWaits().Observe(counters.Observation{Task: "\xff"})
	if !tampered[0].Exemplar.IsValid() {
		t.Errorf("of a task that is not UTF-8 Observe gives %+v", tampered)
	}
	longest := counters.QuestionWaits().Observe(counters.Observation{Value: math.MaxInt64, Task: strings.Repeat("a", 128), Round: math.MaxInt})
	if len(longest[0].Exemplar) > counters.MaxExemplar {
		t.Errorf("a note has %d bytes", len(longest[0].Exemplar))
	}
}
