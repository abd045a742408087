package stats

import (
	"io"

	"github.com/DataDog/datadog-agent/pkg/template/html"

	"github.com/switchyard-dev/switchyard/internal/api"
)

// maxRules is the maximum number of rules on the page of an evaluation.
const maxRules = 20

// evaluationView is the template's data of an evaluation.
type evaluationView struct {
	api.Evaluation
	Page
	Style                 template.CSS
	Made, Head, RulesMore string
	Figures               []Figure
	OutcomeBars, RuleBars *barTable
}

// EvaluationHTML writes an evaluation as a page like that of Stats.HTML.
func EvaluationHTML(w io.Writer, e api.Evaluation, p Page) error {
	return p.write(w, "evaluate", "evaluation.html", func(style template.CSS) any {
		all := int64(len(e.Commits))
		committed, others, failed := e.Totals()
		v := evaluationView{
			Evaluation: e, Page: p, Style: style, Made: p.made(), Head: counted(all, "commit"),
			Figures: []Figure{
				{grouped(committed), "would be committed", Percent(committed, all) + " of " + counted(all, "commit")},
				{grouped(others), "would not", Percent(others, all)},
				{grouped(failed), "not decided", "see the commits"},
			},
		}
		if n := len(e.Rules) - maxRules; n > 0 {
			v.RulesMore = "and " + counted(int64(n), "more rule") + " (switchyard evaluate --output json lists all)"
		}
		var outcomes, rules []Count
		for _, o := range e.Outcomes {
			outcomes = append(outcomes, Count{o.NextAction + " (" + o.Reason + ")", o.Commits})
		}
		for _, r := range e.Rules[:min(len(e.Rules), maxRules)] {
			rules = append(rules, Count{r.Rule + " (" + r.Route + ")", r.Commits})
		}
		v.OutcomeBars = &barTable{"Commits by decision", "Decision", "Commits", bars(outcomes, all)}
		v.RuleBars = &barTable{"Commits by rule, and where its findings go", "Rule", "Commits", bars(rules, all)}
		return v
	})
}
