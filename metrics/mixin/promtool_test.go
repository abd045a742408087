package mixin

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/metrics"
)

// promtool runs Prometheus' own tool, which knows all of PromQL: its parser as a
// library would bring hundreds of modules with it. Where it is not installed the test
// is skipped.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is needed, which is part of Debian's package prometheus:", err)
	}
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", args, err, out)
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "rules.yaml", "alerts.yaml")
}

// TestQueriesAreWellFormed holds the dashboard's expressions against PromQL, as rules
// that nobody loads.
func TestQueriesAreWellFormed(t *testing.T) {
	t.Parallel()
	g := Group{Name: "dashboard", Interval: "1m"}
	for i, e := range Overview().exprs() {
		g.Rules = append(g.Rules, record(fmt.Sprintf("query_%d", i), "", plain(e.expr)))
	}
	text, err := ruleFile(g)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}

// ruleTests are the files that promtool runs.
func ruleTests(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("tests/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no tests of rules:", err)
	}
	return paths
}

func TestRules(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("weeks of samples take promtool some seconds")
	}
	for _, path := range ruleTests(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			promtool(t, "test", "rules", path)
		})
	}
}

// TestEveryRuleIsTested: every record has a test of its value, and every alert tests in
// which it fires and in which it does not.
func TestEveryRuleIsTested(t *testing.T) {
	t.Parallel()
	values, fires, quiet := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, path := range ruleTests(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Tests []struct {
				Exprs []struct {
					Expr    string      `yaml:"expr"`
					Samples []yaml.Node `yaml:"exp_samples"`
				} `yaml:"promql_expr_test"`
				Alerts []struct {
					Name   string      `yaml:"alertname"`
					Alerts []yaml.Node `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
			} `yaml:"tests"`
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, test := range file.Tests {
			for _, e := range test.Exprs {
				read, _, err := uses(e.Expr)
				if err != nil {
					continue // It asks for a pattern of names.
				}
				for _, u := range read {
					values[u.Metric] = values[u.Metric] || len(e.Samples) > 0
				}
			}
			for _, a := range test.Alerts {
				fires[a.Name] = fires[a.Name] || len(a.Alerts) > 0
				quiet[a.Name] = quiet[a.Name] || len(a.Alerts) == 0
			}
		}
	}
	for _, g := range slices.Concat(RecordingRules(metrics.Families(), Default()), Alerts(Default())) {
		for _, r := range g.Rules {
			switch {
			case r.Record != "" && !values[r.Record]:
				t.Errorf("no test has a value of %s", r.Record)
			case r.Alert != "" && !(fires[r.Alert] && quiet[r.Alert]):
				t.Errorf("%s: fires in a test: %t, and does not: %t", r.Alert, fires[r.Alert], quiet[r.Alert])
			}
		}
	}
}
