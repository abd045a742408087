package mixin

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/metrics"
)

// vocabulary is what our expressions may speak of.
func vocabulary(t *testing.T) *Vocabulary {
	t.Helper()
	v, err := NewVocabulary(metrics.Families(), RecordingRules(metrics.Families(), Default())...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// expressions are all of ours, with where they stand.
func expressions() []labelled {
	var all []labelled
	for _, g := range slices.Concat(RecordingRules(metrics.Families(), Default()), Alerts(Default())) {
		for _, r := range g.Rules {
			all = append(all, labelled{where: r.Record + r.Alert, expr: r.Expr})
		}
	}
	for _, e := range Overview().exprs() {
		e.expr = plain(e.expr)
		all = append(all, e)
	}
	return all
}

func TestFilesAreAsGenerated(t *testing.T) {
	t.Parallel()
	files, err := Files(metrics.Families(), Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(f.Name)
		if err != nil {
			t.Error(err)
		} else if string(got) != string(f.Contents) {
			t.Errorf("%s is not what the metrics and rules in Go come to: run make mixin, and look at what changes", f.Name)
		}
	}
}

// TestFilesRefuseUnknownMetrics: a metric that is taken away takes the files with it.
func TestFilesRefuseUnknownMetrics(t *testing.T) {
	t.Parallel()
	for _, gone := range metrics.Families() {
		families := slices.DeleteFunc(metrics.Families(), func(f metrics.Family) bool { return f.Name == gone.Name })
		if _, err := Files(families, Default()); err == nil {
			t.Errorf("there are files without %s", gone.Name)
		}
	}
}

// TestEveryMetricIsUsed: what nobody looks at need not be shown.
func TestEveryMetricIsUsed(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	for _, e := range expressions() {
		read, _, err := uses(e.expr)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range read {
			used[u.Metric] = true
		}
	}
	for _, f := range metrics.Families() {
		if !used[f.Name] && !used[f.Name+"_bucket"] {
			t.Errorf("nothing uses %s", f.Name)
		}
	}
	for name := range foreign() {
		if !used[name] {
			t.Errorf("nothing uses %s", name)
		}
	}
}

// TestRulesReadWhatIsRecordedBefore: a group evaluates its rules in order.
func TestRulesReadWhatIsRecordedBefore(t *testing.T) {
	t.Parallel()
	for _, g := range RecordingRules(metrics.Families(), Default()) {
		for i, r := range g.Rules {
			read, _, err := uses(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, later := range g.Rules[i:] {
				if slices.ContainsFunc(read, func(u Use) bool { return u.Metric == later.Record }) {
					t.Errorf("%s reads %s, which is recorded after it", r.Record, later.Record)
				}
			}
		}
	}
}

// TestInstantSeriesAreOfOneGroup: what a rule compares as of this moment is of this
// moment, since groups are evaluated at different ones. Increases over an hour and
// more need not be.
func TestInstantSeriesAreOfOneGroup(t *testing.T) {
	t.Parallel()
	home := make(map[string]string)
	groups := RecordingRules(metrics.Families(), Default())
	for _, g := range groups {
		for _, r := range g.Rules {
			home[r.Record] = g.Name
		}
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			read, _, err := uses(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range read {
				if at, ours := home[u.Metric]; ours && u.Function == "" && at != g.Name {
					t.Errorf("%s of %s reads %s of %s", r.Record, g.Name, u.Metric, at)
				}
			}
		}
	}
}

func TestThresholdsReachTheRules(t *testing.T) {
	t.Parallel()
	const odd = 7777
	for name, set := range map[string]func(*Thresholds){
		"FallbackDay":       func(t *Thresholds) { t.FallbackDay = odd },
		"FallbackHour":      func(t *Thresholds) { t.FallbackHour = odd },
		"SpawnsDay":         func(t *Thresholds) { t.SpawnsDay = odd },
		"SpawnsHour":        func(t *Thresholds) { t.SpawnsHour = odd },
		"CriticErrors":      func(t *Thresholds) { t.CriticErrors = odd },
		"CriticErrorsLeast": func(t *Thresholds) { t.CriticErrorsLeast = odd },
		"Failures":          func(t *Thresholds) { t.Failures = odd },
		"FailuresLeast":     func(t *Thresholds) { t.FailuresLeast = odd },
		"Stuck":             func(t *Thresholds) { t.Stuck = odd * 1e9 },
		"Waiting":           func(t *Thresholds) { t.Waiting = odd * 1e9 },
		"Committed":         func(t *Thresholds) { t.Committed = odd },
		"EndedLeast":        func(t *Thresholds) { t.EndedLeast = odd },
		"Drift":             func(t *Thresholds) { t.Drift = odd },
		"DriftRounds":       func(t *Thresholds) { t.DriftRounds = odd },
		"DriftFor":          func(t *Thresholds) { t.DriftFor = odd * 1e9 },
		"Budget":            func(t *Thresholds) { t.Budget = odd },
		"DollarsDay":        func(t *Thresholds) { t.DollarsDay = odd },
		"For":               func(t *Thresholds) { t.For = odd * 1e9 },
		"Job":               func(t *Thresholds) { t.Job = "job7777" },
	} {
		limits := Default()
		set(&limits)
		files, err := Files(metrics.Families(), limits)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.ContainsFunc(files, func(f File) bool { return strings.Contains(string(f.Contents), "7777") }) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestNamesSayWhatTheLabelsAre(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"rounds", "switchyard:rounds", "switchyard:rounds:sum:more", "other:rounds:sum", "switchyard_nothing:rounds:sum",
		"switchyard_next:rounds:sum", "switchyardnext_action:rounds:sum", "switchyard::sum", "switchyard:rounds:",
	} {
		if _, err := NewVocabulary(metrics.Families(), Group{Rules: []Rule{record(name, "", "1")}}); err == nil {
			t.Errorf("%s is a name", name)
		}
	}
	twice := Group{Rules: []Rule{record("switchyard:x:sum", "", "1"), record("switchyard:x:sum", "", "2")}}
	if _, err := NewVocabulary(metrics.Families(), twice); err == nil {
		t.Error("one name for two rules")
	}
	v := vocabulary(t)
	got, ok := v.Labels("switchyard_policy_version_next_action:rounds:share")
	if want := []string{"next_action", "policy_version"}; !ok || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
