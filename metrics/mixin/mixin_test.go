// Package mixin checks the recording rules, alerts and dashboard in this directory
// against the metrics that Switchyard exposes.
package mixin

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/metrics"
)

type rule struct {
	Record, Alert, Expr, For string
	Labels                   struct{ Severity string }
}

type panel struct {
	Title   string
	Targets []struct{ Expr, LegendFormat string }
}

// rules returns the rules of a file in order.
func rules(t *testing.T, name string) (all []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal([]byte(read(t, name)), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func panels(t *testing.T) []panel {
	t.Helper()
	var dashboard struct{ Panels []panel }
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// matches returns the first non-empty group of every match.
func matches(pattern, text string) (found []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(m[1:], func(s string) bool { return s != "" })
		found = append(found, m[1+i])
	}
	return found
}

// TestNamesExist checks every metric name, label and fixed label value in the files
// against the registry, and that the files use every metric.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	names, used := make(map[string]bool), make(map[string]bool)
	values := map[string][]string{"le": nil, "job": nil, "instance": nil, "project": nil} // nil if any value is possible
	for _, f := range metrics.Families() {
		names[f.Name] = true
		if f.Kind == metrics.Histogram {
			names[f.Name+"_bucket"], names[f.Name+"_sum"], names[f.Name+"_count"] = true, true, true
		}
		for _, l := range f.Labels {
			known, seen := values[l.Name]
			if values[l.Name] = append(known, l.Values...); l.Values == nil || seen && known == nil {
				values[l.Name] = nil
			}
		}
	}
	type query struct{ where, expr, legend string }
	var queries []query
	for _, r := range append(rules(t, "rules.yaml"), rules(t, "alerts.yaml")...) {
		names[r.Record] = true
		queries = append(queries, query{where: r.Record + r.Alert, expr: r.Expr})
	}
	for _, p := range panels(t) {
		for _, q := range p.Targets {
			queries = append(queries, query{p.Title, q.Expr, q.LegendFormat})
		}
	}
	for _, q := range queries {
		bare := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(q.expr, `""`)
		for _, name := range matches(`\b(switchyard[\w:]*)`, bare) {
			if used[name] = true; !names[name] {
				t.Errorf("%s: there is no metric %s", q.where, name)
			}
		}
		labels := append(matches(`[{,]\s*(\w+)\s*(?:=~|!~|!=|=)`, bare), matches(`\{\{(\w+)\}\}`, q.legend)...)
		for _, list := range matches(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([\w, ]+)\)`, bare) {
			labels = append(labels, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
		for _, name := range labels {
			if _, ok := values[name]; !ok {
				t.Errorf("%s: no metric has a label %s", q.where, name)
			}
		}
		for _, m := range regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`).FindAllStringSubmatch(q.expr, -1) {
			for value := range strings.SplitSeq(m[2], "|") {
				if known := values[m[1]]; known != nil && !slices.Contains(known, value) {
					t.Errorf("%s: the label %s is never %q", q.where, m[1], value)
				}
			}
		}
	}
	for _, f := range metrics.Families() {
		if !used[f.Name] && !used[f.Name+"_bucket"] {
			t.Errorf("%s is not used", f.Name)
		}
	}
}

// TestRules runs promtool over the rules, the dashboard's queries and the tests of the
// rules. Every rule must have a test.
func TestRules(t *testing.T) {
	t.Parallel()
	tests, err := filepath.Glob("tests/*.yaml")
	if err != nil || len(tests) == 0 {
		t.Fatal("there are no tests of the rules:", err)
	}
	var tested strings.Builder
	for _, path := range tests {
		tested.WriteString(read(t, path))
	}
	for _, r := range append(rules(t, "rules.yaml"), rules(t, "alerts.yaml")...) {
		if !regexp.MustCompile(`\b` + r.Record + r.Alert + `\b`).MatchString(tested.String()) {
			t.Errorf("%s%s has no test", r.Record, r.Alert)
		}
	}
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is missing; it is part of Debian's package prometheus:", err)
	}
	var queries []map[string]string
	for _, p := range panels(t) {
		for _, q := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$__range", "7d").Replace(q.Expr)
			queries = append(queries, map[string]string{"record": fmt.Sprint("query_", len(queries)), "expr": expr})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": queries}}})
	if err != nil {
		t.Fatal(err)
	}
	dashboard := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(dashboard, text, 0o600); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"check", "rules", "rules.yaml", "alerts.yaml", dashboard}}
	if !testing.Short() {
		commands = append(commands, append([]string{"test", "rules"}, tests...))
	}
	for _, args := range commands {
		if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// TestMonitoringPage checks that docs/monitoring.md lists every record and alert, has a
// runbook for every alert, and names only panels that exist.
func TestMonitoringPage(t *testing.T) {
	t.Parallel()
	page := read(t, "../../docs/monitoring.md")
	for _, r := range rules(t, "rules.yaml") {
		if !strings.Contains(page, "| `"+r.Record+"` | ") {
			t.Errorf("%s is not listed", r.Record)
		}
	}
	var alerts []string
	for _, r := range rules(t, "alerts.yaml") {
		alerts = append(alerts, r.Alert)
		row := regexp.MustCompile(`(?m)^\| \[` + r.Alert + `\]\(#` + strings.ToLower(r.Alert) + `\) \| ` + r.Labels.Severity + ` \| [^|]+ \| ` + r.For + ` \|$`)
		if !row.MatchString(page) {
			t.Errorf("%s is not listed with its severity and time", r.Alert)
		}
	}
	if runbooks := matches(`(?m)^### (\w+)$`, page); !slices.Equal(runbooks, alerts) {
		t.Errorf("runbooks are for\n%v\nand alerts are\n%v", runbooks, alerts)
	}
	titles := make(map[string]bool)
	for _, p := range panels(t) {
		titles[p.Title] = true
	}
	for _, title := range matches(`[^*]\*([A-Z][^*]+)\*[^*]`, page) {
		if !titles[title] {
			t.Errorf("there is no panel %q; there are %q", title, slices.Sorted(maps.Keys(titles)))
		}
	}
}
