package render

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxShownRules is the maximum number of rules of an evaluation that are shown; JSON has all.
const maxShownRules = 10

// Evaluation prints the decisions of an evaluation.
func (p *Printer) Evaluation(e api.Evaluation) {
	t := newTable("COMMIT", "DECISION", "REASON", "VERIFY", "FINDINGS", "SUBJECT")
	for _, c := range e.Commits {
		if c.Error != nil {
			t.addWithText(c.Error.Error(), fmt.Sprintf("%.12s", c.Commit), action(c.NextAction), c.Reason, "-", "-", c.Subject)
			continue
		}
		t.addWithText(c.Output, fmt.Sprintf("%.12s", c.Commit), action(c.NextAction), c.Reason, c.Verify, c.Findings, c.Subject)
	}
	p.table(t)
	p.lineIf(len(e.Commits) > 0, "")
	committed, others, failed := e.Totals()
	p.Line("%s by policy %s: %d would be committed, %d would not, %d could not be decided",
		textutil.Count(len(e.Commits), "commit"), policyName(e.Policy), committed, others, failed)
	outcomes := newTable("COMMITS", "DECISION", "REASON")
	for _, o := range e.Outcomes {
		outcomes.add(o.Commits, action(o.NextAction), o.Reason)
	}
	p.list(outcomes)
	rules := newTable("COMMITS", "FINDINGS", "RULE", "ROUTE")
	for _, r := range e.Rules[:min(len(e.Rules), maxShownRules)] {
		rules.add(r.Commits, r.Findings, r.Rule, action(r.Route))
	}
	p.list(rules)
	p.andMore(len(e.Rules)-maxShownRules, "")
	p.lineIf(len(e.Submodules) > 0, "submodules were not checked out: %s", textutil.List(e.Submodules, maxShownRules))
}
