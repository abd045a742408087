package mixin

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckFindsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	v := vocabulary(t)
	for expr, want := range map[string]string{
		"switchyard_round_total":                                                   "no metric switchyard_round_total",
		"sum(rate(switchyard_rounds_totals[5m]))":                                  "no metric switchyard_rounds_totals",
		"switchyard:rounds:sums":                                                   "no metric switchyard:rounds:sums",
		"switchyard_tasks_count":                                                   "no metric switchyard_tasks_count",
		"down == 0":                                                                "no metric down",
		`switchyard_rounds_total{action="commit"}`:                                 "no label action",
		`switchyard_rounds_total{job="x", le="1"}`:                                 "no label le",
		"sum by (agent) (switchyard_rounds_total)":                                 "has a label agent",
		"sum without (routes) (switchyard_rounds_total)":                           "has a label routes",
		"sum(switchyard_rounds_total) by (agent)":                                  "has a label agent",
		"up * on (host) switchyard_ledger_events_total":                            "has a label host",
		"up * on (job) group_left (version_) switchyard_build_info":                "has a label version_",
		`switchyard_spawns_total{outcome="critic_error"}`:                          `never "critic_error"`,
		`switchyard_spawns_total{outcome!="critic_error"}`:                         `never "critic_error"`,
		`switchyard_finding_progress_total{progress=~"new|repeated"}`:              `never like "repeated"`,
		`switchyard_finding_progress_total{progress!~"new|repeated"}`:              `never like "repeated"`,
		`switchyard_finding_progress_total{progress=~"("}`:                         "missing closing",
		"increase(switchyard_tasks[1h])":                                           "also falls",
		"rate(switchyard_policy_info[5m])":                                         "also falls",
		"increase(switchyard:spawn_fallbacks_per_spawns:ratio_increase1h[1d])":     "also falls",
		`sum(switchyard_rounds_total{next_action="x)`:                              "quote is not closed",
		"switchyard_rounds_total{next_action}":                                     "no condition",
		`switchyard_rounds_total{next_action="commit"`:                             "have no end",
		"sum by switchyard_rounds_total":                                           "no list of labels",
		"sum by (next_action":                                                      "has no end",
		"switchyard_rounds_total ; 1":                                              "not expected",
		"switchyard_rounds_total + switchyard_nothing{x=\"1\"} - switchyard_never": "no metric switchyard_never",
	} {
		err := v.Check(expr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n  says %v\n  not  %s", expr, err, want)
		}
	}
	for _, expr := range []string{
		"1", "time() - 5", "vector(1) > bool 0",
		`histogram_quantile(0.9, sum by (le, job) (rate(switchyard_task_rounds_bucket{le!="1"}[5m])))`,
		"increase(switchyard_task_rounds_sum[1h]) / increase(switchyard_task_rounds_count[1h] offset 1d)",
		`up{job="x", instance!~"a|b"} unless on (job) switchyard_build_info{version="1"}`,
		`switchyard_rounds_total{next_action="a quote \" and a } inside"}`,
		`switchyard_finding_progress_total{progress=~"re.*"}`,
		"delta(switchyard_tasks[1h])",
	} {
		if err := v.Check(expr); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// TestCheckFindsEveryMisspelling: one wrong letter in any name of a metric or a label, in
// any of our expressions, is found.
func TestCheckFindsEveryMisspelling(t *testing.T) {
	t.Parallel()
	v := vocabulary(t)
	misspelt := 0
	for _, e := range expressions() {
		if err := v.Check(e.expr); err != nil {
			t.Errorf("%s: %v", e.where, err)
		}
		read, grouping, err := uses(e.expr)
		if err != nil {
			t.Fatal(err)
		}
		names := grouping
		for _, u := range read {
			names = append(names, u.Metric)
			for _, m := range u.Matchers {
				names = append(names, m.Label)
			}
		}
		for _, name := range names {
			whole := regexp.MustCompile(`(^|[^a-z0-9_:])` + name + `($|[^a-z0-9_:])`)
			at := whole.FindStringSubmatchIndex(e.expr)
			for _, wrong := range []string{name + "x", name[:len(name)-1], "x" + name} {
				if err := v.Check(e.expr[:at[3]] + wrong + e.expr[at[4]:]); err == nil {
					t.Errorf("%s: %s is accepted for %s", e.where, wrong, name)
				}
				misspelt++
			}
		}
	}
	if misspelt < 1000 {
		t.Errorf("only %d names were misspelt", misspelt)
	}
}

// TestCheckFindsMisspeltLegends: what names a series on the dashboard, too.
func TestCheckFindsMisspeltLegends(t *testing.T) {
	t.Parallel()
	v := vocabulary(t)
	b := Board{Rows: []Row{{"row", []Panel{{Title: "panel", Queries: []Query{
		{Expr: "sum by (next_action) (increase(switchyard_rounds_total[$__rate_interval]))", Legend: "{{next_actio}}"},
	}}}}}}
	if err := v.checkBoard(b); err == nil || !strings.Contains(err.Error(), "row: panel: ") || !strings.Contains(err.Error(), "{{next_actio}}") {
		t.Error(err)
	}
	b.Rows[0].Panels[0].Queries[0].Legend = "{{next_action}} of {{project}}"
	if err := v.checkBoard(b); err != nil {
		t.Error(err)
	}
	b.Annotations = []Mark{{"mark", "switchyard_policy_info", "{{policy}}"}}
	if err := v.checkBoard(b); err == nil || !strings.Contains(err.Error(), "the annotation mark: ") {
		t.Error(err)
	}
}

// TestUsesReadsWhatWasWritten: whatever stands around a metric, it is found.
func TestUsesReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	name := rapid.StringMatching(`[a-z]{3}_[a-z:]{3}`)
	rapid.Check(t, func(t *rapid.T) {
		var want []Use
		var expr func(depth int) string
		expr = func(depth int) string {
			u := Use{Metric: name.Draw(t, "metric")}
			text := u.Metric
			for range rapid.IntRange(0, 2).Draw(t, "matchers") {
				m := Matcher{name.Draw(t, "label"), rapid.SampledFrom([]string{"=", "!=", "=~", "!~"}).Draw(t, "operator"),
					rapid.SampledFrom([]string{"", "a|b", "up{x}", "by (x)"}).Draw(t, "value")}
				u.Matchers = append(u.Matchers, m)
			}
			for i, m := range u.Matchers {
				text += []string{"{", ", "}[min(i, 1)] + m.Label + m.Operator + `"` + m.Value + `"`
			}
			if u.Matchers != nil {
				text += "}"
			}
			if depth == 0 || rapid.Bool().Draw(t, "leaf") {
				if u.Function = rapid.SampledFrom([]string{"", "rate", "increase"}).Draw(t, "function"); u.Function != "" {
					text = u.Function + "(" + text + "[5m])"
				}
				want = append(want, u)
				return text
			}
			left := expr(depth - 1)
			switch rapid.IntRange(0, 2).Draw(t, "form") {
			case 0:
				return "sum by (job) (" + left + ")"
			case 1:
				return "(" + left + " > bool 1.5)\nunless ignoring (le) " + expr(depth-1)
			}
			return left + " * on () group_left () " + expr(depth-1)
		}
		text := expr(3)
		got, _, err := uses(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %+v, want %+v", text, got, want)
		}
		for i := range want {
			if got[i].Metric != want[i].Metric || got[i].Function != want[i].Function || len(got[i].Matchers) != len(want[i].Matchers) {
				t.Fatalf("%s: %+v, want %+v", text, got[i], want[i])
			}
			for j, m := range want[i].Matchers {
				if got[i].Matchers[j] != m {
					t.Fatalf("%s: %+v, want %+v", text, got[i].Matchers[j], m)
				}
			}
		}
	})
}

// TestUsesEnds: nonsense is an error, or nothing, and neither a panic nor for ever.
func TestUsesEnds(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"sum", "by", "(", ")", "{", "}", "[", "]", ",", `"`, `\`, "=", "=~", "a", ":", "1d", " ", "é", "on", "!"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces"), "")
		read, _, err := uses(text)
		if err != nil && read != nil {
			t.Fatalf("%q: both %v and %v", text, read, err)
		}
	})
}
