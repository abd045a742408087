package mixin

import "strings"

// Overview returns the dashboard.
func Overview() Board {
	const presence = "switchyard_ledger_events_total"
	return Board{
		Title: "Switchyard", UID: "switchyard",
		Variables: []Variable{
			{"datasource", "Data source", ""},
			{"job", "Job", presence}, {"instance", "Instance", presence}, {"project", "Project", presence},
		},
		Annotations: []Mark{{
			"Policy adopted", within("switchyard_policy_adopted_timestamp_seconds{@} * 1000"), "policy {{version}} was adopted",
		}},
		Rows: []Row{nowRow(), roundRow(), taskRow(), findingRow(), spawnRow(), policyRow(), healthRow()},
	}
}

// within writes the conditions of what is chosen at the top in the place of each @.
func within(expr string) string {
	return strings.ReplaceAll(expr, "@", `job=~"$job", instance=~"$instance", project=~"$project"`)
}

// ledger names a series that there is one of for each ledger.
const ledger = "{{project}} {{instance}}"

// query shows an expression, in which @ stands for what is chosen at the top.
func query(expr, legend string) Query { return Query{Expr: within(expr), Legend: legend} }

// counted draws what a counter has counted, by one of its labels.
func counted(title, help, metric, label string, width int) Panel {
	return Panel{title, help, Bars, width, 8, unitCount, []Query{
		query("sum by ("+label+") (increase("+metric+"{@}[$__rate_interval]))", "{{"+label+"}}"),
	}}
}

// ranked shows what a counter has counted in the time that the dashboard shows, by one
// of its labels, the most first.
func ranked(title, help, metric, label string, width int) Panel {
	return Panel{title, help, Levels, width, 8, unitCount, []Query{
		query("topk(15, sum by ("+label+") (increase("+metric+"{@}[$__range])) > 0)", "{{"+label+"}}"),
	}}
}

// followed draws what our rules have recorded for each ledger.
func followed(title, help, unit, legend string, width int, series ...string) Panel {
	p := Panel{title, help, Lines, width, 8, unit, nil}
	for _, s := range series {
		p.Queries = append(p.Queries, query(s+"{@}", legend))
	}
	return p
}

// number shows the newest value of an expression.
func number(title, help, unit, expr, legend string) Panel {
	return Panel{title, help, Numbers, 4, 4, unit, []Query{query(expr, legend)}}
}

// quantiles draws the median and the 95th percentile of a histogram.
func quantiles(title, help, metric string, width int) Panel {
	p := Panel{title, help, Lines, width, 8, unitSeconds, nil}
	for _, q := range []struct{ rank, name string }{{"0.5", "median"}, {"0.95", "95 % take less"}} {
		p.Queries = append(p.Queries, query("histogram_quantile("+q.rank+", sum by (le) (increase("+metric+"_bucket{@}[$__range])))\n"+
			"or histogram_quantile("+q.rank+", sum(increase("+metric+"{@}[$__range])))", q.name))
	}
	return p
}
