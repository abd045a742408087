package host

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/host/finding"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// Request is what a round is decided on.
type Request struct {
	Reports []ReportRef
	// Stdin is read where a report's path is Stdin.
	Stdin io.Reader
	// Verify is the outcome of the project's verification.
	Verify policies.Verify
	// Round is the round that the caller means, 0 for whichever it is.
	Round int
	// MaxRounds is the cap, 0 for the task's or the project's own.
	MaxRounds int
	// Policy is a policy reference, "" for the project's own. A path is
	// relative to the user's folder.
	Policy string
}

// stuckAction is the destination that every policy declares for what nobody
// can route.
const stuckAction = "stuck"

// Route decides on reports alone: it keeps nothing and knows no task. The round
// is the request's, else the one that the reports name, else 1.
func (e *Engine) Route(ctx context.Context, req Request) (Decision, error) {
	config, err := e.project.Config(ctx, task.MaxRounds)
	if err != nil {
		return Decision{}, err
	}
	loading := e.load(ctx, req, config)
	defer loading.cancel()
	policy, all, err := loading.wait(ctx)
	if err != nil {
		return Decision{}, err
	}
	round, err := bind(all, "", req.Round)
	if err != nil {
		return Decision{}, err
	}
	return decide(ctx, policy, all, max(round, 1), firstOf(req.MaxRounds, config.MaxRounds, task.DefaultRounds), req.Verify)
}

// loading is the policy and the evidence of a request on their way, side by
// side. Whoever begins it must cancel it.
type loading struct {
	cancel   context.CancelFunc
	policies chan result[*policies.Policy]
	evidence chan result[[]evidence]
}

type result[T any] struct {
	value T
	err   error
}

func (e *Engine) load(ctx context.Context, req Request, config project.Config) *loading {
	ctx, cancel := context.WithCancel(ctx)
	l := &loading{cancel: cancel, policies: make(chan result[*policies.Policy], 1), evidence: make(chan result[[]evidence], 1)}
	e.loads.Go(func() {
		p, err := e.policy(ctx, req.Policy, config.Policy)
		l.policies <- result[*policies.Policy]{p, err}
	})
	e.loads.Go(func() {
		all, err := e.gather(ctx, req.Reports, req.Stdin, config)
		l.evidence <- result[[]evidence]{all, err}
	})
	return l
}

// wait returns what was loaded, or the policy's error before the evidence's, so
// that the same mistake always gives the same error. When ctx is done it returns
// the cause; what is still loading then ends soon, and Close waits for it.
func (l *loading) wait(ctx context.Context) (*policies.Policy, []evidence, error) {
	var p result[*policies.Policy]
	select {
	case p = <-l.policies:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	select {
	case ev := <-l.evidence:
		return p.value, ev.value, ev.err
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// policy loads what the user asked for, else what the project configures, else
// the default.
func (e *Engine) policy(ctx context.Context, asked, configured string) (*policies.Policy, error) {
	ref, from := asked, e.project
	if ref == "" {
		ref, from = configured, e.rooted()
	}
	if ref == "" {
		ref = policies.Default
	}
	if !policies.IsReleaseRef(ref) {
		path, err := from.Resolve(ref)
		if err != nil {
			return nil, err
		}
		ref = path
	}
	return policies.Load(ctx, ref)
}

// decide merges the evidence's findings, routes each and lets the policy choose.
func decide(ctx context.Context, policy *policies.Policy, all []evidence, round, maxRounds int, verify policies.Verify) (Decision, error) {
	d := Decision{Round: round, MaxRounds: maxRounds, Policy: policy.Identity()}
	var found []finding.Finding
	for _, ev := range all {
		for _, f := range ev.result.Findings {
			found = append(found, classify(policy, f))
		}
		d.Skipped = append(d.Skipped, skipped(ev)...)
		for _, u := range ev.result.Unmapped {
			d.Unmapped = append(d.Unmapped, Unmapped{Plugin: ev.plugin.Name, Report: ev.digest, Rule: u.Rule, Category: u.Category})
		}
		if !slices.Contains(d.Plugins, ev.plugin) {
			d.Plugins = append(d.Plugins, ev.plugin)
		}
		d.Reports = append(d.Reports, summarize(ev))
	}
	d.Findings = finding.Merge(found)

	routes := make(map[string]int)
	d.Routing = Routing{FindingCount: len(d.Findings), Buckets: make(map[string][]string)}
	for _, f := range d.Findings {
		routes[f.Route]++
		d.Routing.Buckets[f.Route] = append(d.Routing.Buckets[f.Route], f.Fingerprint)
	}
	d.Input = policies.Input{Round: round, MaxRounds: maxRounds, FindingCount: len(d.Findings), Routes: routes, Verify: verify}
	chosen, err := policy.Decide(ctx, d.Input)
	if err != nil {
		return Decision{}, err
	}
	destination, _ := policy.Destination(chosen.NextAction)
	d.NextAction, d.Reason = chosen.NextAction, chosen.Reason
	d.Stuck = task.Ends(d.NextAction, string(destination.Kind))
	d.Routing.NextDestination = policy.Strongest(routes)
	if d.Routing.NextDestination == "" {
		d.Routing.NextDestination = d.NextAction
	}
	return d, nil
}

// classify gives a finding its destination. A category that the policy does not
// know stops the loop: guessing where it goes could be guessing that it is
// harmless.
func classify(policy *policies.Policy, f finding.Finding) finding.Finding {
	route, known := policy.Route(f.Category)
	if !known {
		f.UnknownCategory, f.Severity, route = true, finding.Fail, stuckAction
	}
	f.Route = route
	return f
}

// skipped groups what a report's plugin left out by reason, in the order in which
// the reasons first appear.
func skipped(ev evidence) []Skipped {
	var groups []Skipped
	at := make(map[string]int)
	for _, s := range ev.result.Skipped {
		n, ok := at[s.Reason]
		if !ok {
			n, at[s.Reason] = len(groups), len(groups)
			groups = append(groups, Skipped{Plugin: ev.plugin.Name, Report: ev.digest, Reason: s.Reason})
		}
		g := &groups[n]
		if g.Count++; g.Count <= maxSkippedRefs {
			g.Refs = append(g.Refs, s.Ref)
		}
	}
	return groups
}

func summarize(ev evidence) Report {
	return Report{
		Path: strings.ToValidUTF8(ev.path, "\ufffd"), Digest: ev.digest, Plugin: ev.plugin.Name, Critic: ev.result.Critic,
		Findings: len(ev.result.Findings), Skipped: len(ev.result.Skipped),
	}
}

func firstOf(values ...int) int {
	for _, v := range values {
		if v != 0 {
			return v
		}
	}
	return 0
}
