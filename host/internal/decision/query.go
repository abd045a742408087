// Package decision lets a policy decide on reports: it merges their findings, compares them
// with the findings of a task's earlier reviews, and makes the questions to the user. It does
// not record the decision.
package decision

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/linediff"
	policyreview "github.com/switchyard-dev/switchyard/internal/policy/review"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Query is the whole input of a decision.
type Query struct {
	Policy           *policies.Policy
	Evidence         []pluginset.Report
	Audits           []finding.Finding // the engine's own findings, with their sources
	Verify           policies.Verify
	Round, MaxRounds int
	// HardCap is the highest round, and Bar the bar of earlier reviews, or "".
	HardCap int
	Bar     string
	// Task has the history that the findings are compared with. It may be nil.
	Task *record.Task
	// Changes are the changes of the draft since the previous review, nil if not known.
	Changes linediff.Changes
}

// Decide merges and routes the findings and evaluates the policy.
func (q Query) Decide(ctx context.Context) (api.Decision, *event.Timing, error) {
	d := api.Decision{Round: q.Round, MaxRounds: q.MaxRounds, Policy: q.Policy.Identity()}
	var found []finding.Finding
	for _, ev := range q.Evidence {
		found = append(found, ev.Result.Findings...)
		d.Skipped = append(d.Skipped, groupSkipped(ev)...)
		for _, u := range ev.Result.Unmapped {
			d.Unmapped = append(d.Unmapped, api.Unmapped{Plugin: ev.Plugin.Name, Report: ev.Digest, Rule: u.Rule, Category: u.Category})
		}
		if !slices.Contains(d.Plugins, ev.Plugin) {
			d.Plugins = append(d.Plugins, ev.Plugin)
		}
		d.Reports = append(d.Reports, summarize(ev))
	}
	d.Confinement = api.LowestConfinement(d.Reports)
	var err error
	if d.Findings, err = Merge(q.Policy, append(found, q.Audits...)); err != nil {
		return api.Decision{}, nil, err
	}
	past := comparison{findings: slices.Repeat([]task.Reviewed{{Status: task.New}}, len(d.Findings))}
	if q.Task != nil {
		past, err = compareReview(ctx, q.Task, q.Evidence, d.Findings)
	} else {
		_, err = readStatements(q.Evidence, d.Findings)
	}
	if err != nil {
		return api.Decision{}, nil, err
	}
	d.Previous = past.previous
	d.InducedCount = markInduced(d.Findings, q.Changes)
	past.state.Bar = q.Bar
	begin := time.Now()
	if err := q.ask(ctx, &d, past); err != nil {
		return api.Decision{}, nil, err
	}
	timing := &event.Timing{PolicyMicros: time.Since(begin).Microseconds()}
	for _, ev := range q.Evidence {
		timing.Plugins = append(timing.Plugins, event.PluginTiming{Plugin: ev.Plugin.Name, Micros: ev.Took.Microseconds()})
	}
	setRouting(&d)
	setDestination(&d, q.Policy)
	return d, timing, nil
}

// Merge routes findings and merges duplicates. A category that the policy does not know goes to
// stuck: any guess could be that it is harmless.
//
// # Errors
//
// report-ambiguous if two different findings have the same fingerprint.
func Merge(policy *policies.Policy, found []finding.Finding) ([]finding.Finding, error) {
	classified := make([]finding.Finding, len(found))
	for i, f := range found {
		route, known := policy.Route(f.Category)
		if !known {
			f.UnknownCategory, f.Severity, route = true, finding.Fail, api.ActionStuck
		}
		f.Route = route
		classified[i] = f
	}
	merged := finding.Merge(classified)
	return merged, checkFingerprints(merged)
}

// checkFingerprints requires that no two findings have the same fingerprint, because it is the
// id of a finding in the ledger, in questions and in reports.
func checkFingerprints(merged []finding.Finding) error {
	seen := make(map[string]finding.Finding, len(merged))
	for _, f := range merged {
		if other, ok := seen[f.Fingerprint]; ok {
			return errs.New(errs.ReportAmbiguous, "findings of %s and of %s have the same fingerprint", subject(other), subject(f)).
				With("finding", f.Fingerprint)
		}
		seen[f.Fingerprint] = f
	}
	return nil
}

func setDestination(d *api.Decision, p *policies.Policy) {
	destination, _ := p.Destination(d.NextAction)
	d.Stuck = task.IsStuckDestination(d.NextAction, string(destination.Kind))
	d.Routing.NextDestination = cmp.Or(p.Strongest(d.Input.Routes), d.NextAction)
}

// setRouting groups the findings by destination.
func setRouting(d *api.Decision) {
	d.Routing = api.Routing{FindingCount: len(d.Findings), Buckets: make(map[string][]string)}
	for _, f := range d.Findings {
		d.Routing.Buckets[f.Route] = append(d.Routing.Buckets[f.Route], f.Fingerprint)
	}
}

// maxSkippedRefs is the number of skipped items named per reason.
const maxSkippedRefs = 20

// groupSkipped groups the items that a report's plugin skipped by reason, in the order in which
// the reasons first appear.
func groupSkipped(ev pluginset.Report) []api.Skipped {
	var groups []api.Skipped
	at := make(map[string]int)
	for _, s := range ev.Result.Skipped {
		n, ok := at[s.Reason]
		if !ok {
			n, at[s.Reason] = len(groups), len(groups)
			groups = append(groups, api.Skipped{Plugin: ev.Plugin.Name, Report: ev.Digest, Reason: s.Reason})
		}
		g := &groups[n]
		if g.Count++; g.Count <= maxSkippedRefs {
			g.Refs = append(g.Refs, s.Ref)
		}
	}
	return groups
}

func summarize(ev pluginset.Report) api.Report {
	return api.Report{
		Path: strings.ToValidUTF8(ev.Path, "\ufffd"), Command: ev.Command, Run: ev.Run, Digest: ev.Digest, Plugin: ev.Plugin.Name, Critic: ev.Result.Critic,
		Confinement: ev.Confinement,
		Findings:    len(ev.Result.Findings), Skipped: len(ev.Result.Skipped),
	}
}

// ask asks the policy about the review, and moves the findings below its bar from Findings
// to Deferred.
func (q Query) ask(ctx context.Context, d *api.Decision, past comparison) error {
	r := policyreview.Review{
		State: past.state, Round: q.Round, MaxRounds: q.MaxRounds, HardCap: q.HardCap, Verify: q.Verify, Settled: past.isSettled(d.Findings),
		Confinement: d.Confinement,
	}
	for i, f := range d.Findings {
		found := policyreview.Finding{Reviewed: past.findings[i], Severity: f.Severity, Route: f.Route}
		found.Induced = f.Induced
		found.Blocking = slices.ContainsFunc(f.Sources, func(s finding.Source) bool { return s.Critic == finding.AuditCritic })
		r.Findings = append(r.Findings, found)
	}
	result, err := r.Decide(ctx, q.Policy)
	if err != nil {
		return err
	}
	if q.Policy.HasBar() {
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

// Found returns the findings of reports, never nil.
func Found(all []pluginset.Report) []finding.Finding {
	findings := []finding.Finding{}
	for _, ev := range all {
		findings = append(findings, ev.Result.Findings...)
	}
	return findings
}

// OnInput evaluates a policy on a bare input without findings.
func OnInput(ctx context.Context, policy *policies.Policy, in policies.Input) (api.Decision, error) {
	chosen, err := policy.Decide(ctx, in)
	if err != nil {
		return api.Decision{}, err
	}
	d := api.Decision{
		Round: in.Round, MaxRounds: in.MaxRounds, Policy: policy.Identity(), Input: in, Findings: []finding.Finding{},
		NextAction: chosen.NextAction, Reason: chosen.Reason, Progress: api.ProgressOf(in),
	}
	if policy.HasBar() {
		if d.PolicyBar, err = policy.Bar(ctx, in); err != nil {
			return api.Decision{}, err
		}
		d.Bar, d.BarInput, d.Deferred = d.PolicyBar, &in, []finding.Finding{}
	}
	setRouting(&d)
	d.Routing.FindingCount = in.FindingCount
	setDestination(&d, policy)
	return d, nil
}
