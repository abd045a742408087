package render

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/api"
)

// Gate prints whether files were reviewed and approved.
func (p *Printer) Gate(r api.GateResult) {
	p.gateLine("", r.GateVerdict)
	if review := r.Review; review != nil {
		p.Line("  task      %s, round %d, decided %s", review.Task, review.Round, eventTime(review.At))
		p.Line("  policy    %s; verification %s", policyName(review.Policy), review.Verify)
		p.Line("  event     %.12s, number %d of the task", review.Event.Hash, review.Event.N)
	}
	for _, missing := range r.Missing {
		p.Line("  missing   %s", missing)
	}
	p.lineIf(r.Signed, "  proof     signed by the key")
	p.lineIf(r.Unsigned, "  proof     unsigned: its author is unknown")
	for _, c := range r.Commits {
		p.gateLine("  ", c)
	}
	if r.Outcome == api.GateNotReviewed && r.Commit != r.From && !r.Signed && !r.Unsigned {
		now := "review these files: switchyard round TASK, without --report, since a report does not say which files it is about"
		if r.Commit != "" {
			now += fmt.Sprintf("; with --base %s, since they are committed", r.From)
		}
		p.next(step{now: now + "; or, if another machine did, give its proof: --proof FILE"})
	}
}

// gateLine prints the outcome for one tree.
func (p *Printer) gateLine(indent string, r api.GateVerdict) {
	what := fmt.Sprintf("the checkout's files (tree %.12s)", r.Tree)
	if r.Commit != "" {
		what = fmt.Sprintf("commit %.12s", r.Commit)
	}
	color := red
	if r.Outcome == api.GatePassed {
		color = green
	}
	p.Line("%s%s  %s, compared with %.12s", indent, p.paint(color, r.Outcome), what, r.From)
	p.Line("%s  because %s", indent, r.Reason)
}
