package round

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/linediff"
	"github.com/switchyard-dev/switchyard/internal/policy/explain"
	policyreview "github.com/switchyard-dev/switchyard/internal/policy/review"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// Route decides on reports alone. It records nothing and has no task, so every finding is
// new. The round is the request's, else the one that the reports name, else 1.
func (e *Engine) Route(ctx context.Context, req api.Request) (api.Decision, error) {
	config, err := e.project.Plugins().Config(ctx, req.Reports...)
	if err != nil {
		return api.Decision{}, err
	}
	if len(req.Reports) == 0 {
		return api.Decision{}, errNoEvidence()
	}
	inputs := e.startLoading(ctx, req, config)
	defer inputs.cancel()
	policy, all, err := inputs.wait(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	round, err := pluginset.CheckSubject(all, "", req.Round)
	if err != nil {
		return api.Decision{}, err
	}
	if err := e.project.Policies().CheckUnrecorded(ctx, policy); err != nil {
		return api.Decision{}, err
	}
	maxRounds := cmp.Or(req.MaxRounds, config.MaxRounds)
	d, _, err := policyQuery{
		policy: policy.Policy, evidence: all, verify: cmp.Or(req.Verify.Claim, policies.Absent),
		round: max(round, 1), maxRounds: maxRounds, hardCap: task.HardCap(maxRounds, config.HardCap),
	}.decide(ctx)
	if err == nil && req.Explain {
		d.Why, err = explain.Decision(ctx, policy.Policy, d.Input, d.BarInput)
	}
	return d, err
}

// pendingInputs are the policy and the reports of a request, which load concurrently. The
// caller must cancel them.
type pendingInputs struct {
	cancel context.CancelFunc
	loaded chan loadedInputs
}

type loadedInputs struct {
	policy  policyset.Selection
	reports []pluginset.Report
	err     error
}

func (e *Engine) startLoading(ctx context.Context, req api.Request, config project.Config) *pendingInputs {
	ctx, cancel := context.WithCancel(ctx)
	l := &pendingInputs{cancel: cancel, loaded: make(chan loadedInputs, 1)}
	e.project.Background(func() {
		var in loadedInputs
		var reportErr error
		var reports sync.WaitGroup
		reports.Go(func() { in.reports, reportErr = e.project.Plugins().NormalizeAll(ctx, req.Reports, req.Stdin, config) })
		if in.policy, in.err = e.project.Policies().Select(ctx, req.Policy, config); in.err != nil {
			cancel()
		}
		reports.Wait()
		// A policy error comes before a report error, so that the same mistake always gives
		// the same error.
		in.err = cmp.Or(in.err, reportErr)
		l.loaded <- in
	})
	return l
}

// wait returns the loaded inputs. If ctx is done, it returns the cause; loads that still
// run end soon.
func (l *pendingInputs) wait(ctx context.Context) (policyset.Selection, []pluginset.Report, error) {
	select {
	case in := <-l.loaded:
		return in.policy, in.reports, in.err
	case <-ctx.Done():
		return policyset.Selection{}, nil, context.Cause(ctx)
	}
}

// policyQuery is the whole input of a decision.
type policyQuery struct {
	policy           *policies.Policy
	evidence         []pluginset.Report
	audits           []finding.Finding // the engine's own, with their sources
	verify           policies.Verify
	round, maxRounds int
	// hardCap is the highest round, and bar that of earlier reviews, "" for none.
	hardCap int
	bar     string
	// compare compares the merged findings with the task's history; nil if there is no
	// task.
	compare func([]finding.Finding) (comparison, error)
	// changes are those of the draft since the previous review, nil if they are not known.
	changes linediff.Changes
}

// decide merges and routes the findings and evaluates the policy. It also returns the
// timing.
func (q policyQuery) decide(ctx context.Context) (api.Decision, *event.Timing, error) {
	d := api.Decision{Round: q.round, MaxRounds: q.maxRounds, Policy: q.policy.Identity()}
	var found []finding.Finding
	for _, ev := range q.evidence {
		found = append(found, ev.Result.Findings...)
		d.Skipped = append(d.Skipped, skipped(ev)...)
		for _, u := range ev.Result.Unmapped {
			d.Unmapped = append(d.Unmapped, api.Unmapped{Plugin: ev.Plugin.Name, Report: ev.Digest, Rule: u.Rule, Category: u.Category})
		}
		if !slices.Contains(d.Plugins, ev.Plugin) {
			d.Plugins = append(d.Plugins, ev.Plugin)
		}
		d.Reports = append(d.Reports, summarize(ev))
	}
	d.Confinement = api.LowestConfinement(d.Reports)
	d.Findings = merge(q.policy, append(found, q.audits...))
	if _, err := readStatements(q.evidence, d.Findings); err != nil {
		return api.Decision{}, nil, err
	}
	past := comparison{findings: slices.Repeat([]task.Reviewed{{Status: task.New}}, len(d.Findings))}
	if q.compare != nil {
		var err error
		if past, err = q.compare(d.Findings); err != nil {
			return api.Decision{}, nil, err
		}
		d.Previous = past.previous
	}
	d.InducedCount = markInduced(d.Findings, q.changes)
	past.state.Bar = q.bar
	begin := time.Now()
	if err := q.ask(ctx, &d, past); err != nil {
		return api.Decision{}, nil, err
	}
	timing := &event.Timing{PolicyMicros: time.Since(begin).Microseconds()}
	for _, ev := range q.evidence {
		timing.Plugins = append(timing.Plugins, event.PluginTiming{Plugin: ev.Plugin.Name, Micros: ev.Took.Microseconds()})
	}
	setRouting(&d)
	setDestination(&d, q.policy)
	return d, timing, nil
}

// merge routes findings and merges duplicates.
func merge(policy *policies.Policy, found []finding.Finding) []finding.Finding {
	classified := make([]finding.Finding, len(found))
	for i, f := range found {
		classified[i] = classify(policy, f)
	}
	return finding.Merge(classified)
}

// classify routes a finding. A category that the policy does not know goes to stuck: any
// guess could be that it is harmless.
func classify(policy *policies.Policy, f finding.Finding) finding.Finding {
	route, known := policy.Route(f.Category)
	if !known {
		f.UnknownCategory, f.Severity, route = true, finding.Fail, api.ActionStuck
	}
	f.Route = route
	return f
}

// setDestination sets the fields that follow from the next action.
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

// skipped groups the items that a report's plugin skipped by reason, in the order in which
// the reasons first appear.
func skipped(ev pluginset.Report) []api.Skipped {
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

func errNoEvidence() error { return errs.New(errs.NoEvidence, "no report is given") }

// maxInput is the maximum size of a policy input file, in bytes.
const maxInput = 1 << 20

// Ask evaluates a policy on a bare input without findings, such as a recorded input or a
// counterexample of a check.
//
// # Errors
//
// policy-invalid-input if the input is malformed, and those of reading it and of policies.
func (e *Engine) Ask(ctx context.Context, req api.AskRequest) (api.Decision, error) {
	config, err := e.project.Config(ctx)
	if err != nil {
		return api.Decision{}, err
	}
	in, err := e.readInput(ctx, req)
	if err != nil {
		return api.Decision{}, err
	}
	policy, err := e.project.Policies().Select(ctx, req.Policy, config)
	if err != nil {
		return api.Decision{}, err
	}
	if err := e.project.Policies().CheckUnrecorded(ctx, policy); err != nil {
		return api.Decision{}, err
	}
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
	setDestination(&d, policy.Policy)
	if req.Explain {
		d.Why, err = explain.Decision(ctx, policy.Policy, d.Input, d.BarInput)
	}
	return d, err
}

func (e *Engine) readInput(ctx context.Context, req api.AskRequest) (policies.Input, error) {
	var text []byte
	var err error
	if req.Path == api.Stdin {
		text, err = project.ReadAll(ctx, req.Stdin, "standard input", maxInput)
		if errs.CodeOf(err) == errs.FileTooLarge {
			err = errs.New(errs.PolicyInvalidInput, "the input has more than %d bytes", maxInput).With("limit", maxInput)
		}
	} else {
		text, err = e.project.Read(ctx, req.Path, maxInput)
	}
	if err != nil {
		return policies.Input{}, err
	}
	var in policies.Input
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return in, errs.New(errs.PolicyInvalidInput, "%s is not an input of a policy: %w", req.Path, textutil.JSONReason(err)).With("path", req.Path)
	}
	return in, nil
}

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
