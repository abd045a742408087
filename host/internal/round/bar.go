package round

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	policyreview "github.com/switchyard-dev/switchyard/internal/policy/review"
)

// ask asks the policy about the review, and moves the findings below its bar from Findings
// to Deferred.
func (q policyQuery) ask(ctx context.Context, d *api.Decision, past comparison) error {
	r := policyreview.Review{
		State: past.state, Round: q.round, MaxRounds: q.maxRounds, HardCap: q.hardCap, Verify: q.verify, Settled: past.settled(d.Findings),
		Confinement: d.Confinement,
	}
	for i, f := range d.Findings {
		found := policyreview.Finding{Reviewed: past.findings[i], Severity: f.Severity, Route: f.Route}
		found.Induced = f.Induced
		found.Blocking = slices.ContainsFunc(f.Sources, func(s finding.Source) bool { return s.Critic == finding.AuditCritic })
		r.Findings = append(r.Findings, found)
	}
	result, err := r.Decide(ctx, q.policy)
	if err != nil {
		return err
	}
	if q.policy.HasBar() {
		all := d.Findings
		d.Findings, d.Deferred = []finding.Finding{}, []finding.Finding{}
		for i, f := range all {
			if r.Findings[i].Deferred {
				d.Deferred = append(d.Deferred, f)
			} else {
				d.Findings = append(d.Findings, f)
			}
		}
	}
	d.Bar, d.PolicyBar, d.BarInput, d.Input = result.Bar, result.PolicyBar, result.BarInput, result.Input
	d.NextAction, d.Reason = result.Decision.NextAction, result.Decision.Reason
	d.Progress = api.ProgressOf(d.Input)
	return nil
}
