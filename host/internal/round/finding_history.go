package round

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// comparison compares the findings of a review with the task's earlier reviews. The zero
// comparison has none.
type comparison struct {
	state    task.State
	findings []task.Reviewed
	// previous says what became of the previous review's findings.
	previous []api.PreviousFinding
}

// settled reports whether nothing of the previous review is left: each finding is reported
// again under its fingerprint, or known to be fixed or withdrawn.
func (c comparison) settled(reported []finding.Finding) bool {
	return !slices.ContainsFunc(c.previous, func(p api.PreviousFinding) bool {
		return p.Status == finding.Unverified || p.Status == finding.Open &&
			!slices.ContainsFunc(reported, func(f finding.Finding) bool { return f.Fingerprint == p.Fingerprint })
	})
}

// compareReview sets how each finding of a review compares with the task's earlier reviews.
func (tx *taskTx) compareReview(ctx context.Context, evidence []pluginset.Report, findings []finding.Finding) (comparison, error) {
	c := comparison{state: tx.status.State, findings: make([]task.Reviewed, len(findings))}
	past, err := tx.traces(ctx, findings)
	if err != nil {
		return c, err
	}
	for i := range findings {
		f := &findings[i]
		trace := past[f.Fingerprint]
		status := c.state.Compare(trace)
		c.findings[i] = task.Reviewed{Status: status, Past: trace}
		trace = c.state.Trace(trace, false)
		f.Standing, f.FirstSeen, f.SinceRound, f.Reopened = string(status), trace.First, trace.Since, trace.Reopened
	}
	c.previous, err = tx.answerPrevious(ctx, evidence, findings)
	c.markRenamed(findings)
	return c, err
}

// markRenamed marks one finding for each of the previous review's that is stated to be
// open and reported in other words.
func (c comparison) markRenamed(findings []finding.Finding) {
	for _, p := range c.previous {
		same := func(f finding.Finding) bool { return f.Fingerprint == p.Fingerprint }
		if p.Status != finding.Open || slices.ContainsFunc(findings, same) {
			continue
		}
		for i, f := range findings {
			r := &c.findings[i]
			if r.Past.Last == 0 && !r.Renamed && subject(f) == subject(finding.Finding{Category: p.Category, File: p.File}) {
				r.Renamed = true
				break
			}
		}
	}
}

// traces returns the history of findings, by fingerprint.
func (r *taskRecord) traces(ctx context.Context, findings []finding.Finding) (map[string]task.Trace, error) {
	keys := make([]string, len(findings))
	for i, f := range findings {
		keys[i] = keyFinding + f.Fingerprint
	}
	texts, err := r.ledger.Entries(ctx, r.id, keys)
	if err != nil {
		return nil, err
	}
	past := make(map[string]task.Trace, len(texts))
	for key, text := range texts {
		var t task.Trace
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, errTampered(r.id, "the past of %s cannot be read: %w", key, err)
		}
		past[key[len(keyFinding):]] = t
	}
	return past, nil
}

// openFindings returns the findings that the task's latest decision left, or that a person
// stopped it with.
func (r *taskRecord) openFindings(ctx context.Context) ([]finding.Finding, error) {
	body, err := r.findingsEvent(ctx)
	return append(body.Findings, body.DecisionOrZero().Findings...), err
}

// openReview returns the findings that the latest review left, or that a person or an
// import did, and the decision on that review as far as it is known.
func (r *taskRecord) openReview(ctx context.Context) ([]finding.Finding, api.Decision, error) {
	body, err := r.findingsEvent(ctx)
	d := body.DecisionOrZero()
	if decided, ok := body.Event.(*task.RoundDecided); ok && !decided.Reviewed { // Its critic failed.
		if d.StillOpen == nil {
			return nil, api.Decision{}, err
		}
		return d.StillOpen.Findings, api.Decision{Round: d.StillOpen.Round}, err
	}
	return append(body.Findings, d.Findings...), d, err
}

// findingsEvent returns the event with the task's open findings, the zero Full for none.
func (r *taskRecord) findingsEvent(ctx context.Context) (event.Full, error) {
	if r.status.FindingsEvent == 0 {
		return event.Full{}, nil
	}
	return r.fullEvent(ctx, r.status.FindingsEvent)
}

// decidedFindings returns the findings of the latest decision of a round, nil for none.
func (r *taskRecord) decidedFindings(ctx context.Context, round int) ([]finding.Finding, error) {
	n, err := r.decisionOf(ctx, round, "", nil)
	if errs.CodeOf(err) == errs.RoundNotFound {
		return nil, nil // They are of an import.
	}
	if err != nil {
		return nil, err
	}
	body, err := r.fullEvent(ctx, n)
	return body.DecisionOrZero().Findings, err
}

// stillOpen returns the findings that the last review left open, for a round without a
// review.
func (tx *taskTx) stillOpen(ctx context.Context) (*api.OpenReview, error) {
	found, d, err := tx.openReview(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for i := range found {
		found[i].Sources = []finding.Source{}
	}
	return &api.OpenReview{Round: d.Round, Findings: found}, nil
}
