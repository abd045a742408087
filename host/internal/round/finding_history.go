package round

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/ledger"
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
	past, err := traces(ctx, tx.ledger, tx.id, findings)
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
func traces(ctx context.Context, l *ledger.Ledger, id string, findings []finding.Finding) (map[string]task.Trace, error) {
	keys := make([]string, len(findings))
	for i, f := range findings {
		keys[i] = keyFinding + f.Fingerprint
	}
	texts, err := l.Entries(ctx, id, keys)
	if err != nil {
		return nil, err
	}
	past := make(map[string]task.Trace, len(texts))
	for key, text := range texts {
		var t task.Trace
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, errTampered(id, "the past of %s cannot be read: %w", key, err)
		}
		past[key[len(keyFinding):]] = t
	}
	return past, nil
}

// openFindings returns the findings that the task's latest decision left, or that a person
// stopped it with.
func openFindings(ctx context.Context, l *ledger.Ledger, t storedStatus) ([]finding.Finding, error) {
	body, err := findingsEvent(ctx, l, t)
	return append(body.Findings, body.DecisionOrZero().Findings...), err
}

// openReview returns the findings that the latest review left, or that a person or an
// import did, and the decision on that review as far as it is known.
func openReview(ctx context.Context, l *ledger.Ledger, t storedStatus) ([]finding.Finding, api.Decision, error) {
	body, err := findingsEvent(ctx, l, t)
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
func findingsEvent(ctx context.Context, l *ledger.Ledger, t storedStatus) (event.Full, error) {
	if t.FindingsEvent == 0 {
		return event.Full{}, nil
	}
	return fullEvent(ctx, l, t.TaskID, t.FindingsEvent)
}

// decidedFindings returns the findings of the latest decision of a round, nil for none.
func decidedFindings(ctx context.Context, l *ledger.Ledger, id string, round int) ([]finding.Finding, error) {
	n, err := decisionOf(ctx, l, id, round, "", nil)
	if errs.CodeOf(err) == errs.RoundNotFound {
		return nil, nil // They are of an import.
	}
	if err != nil {
		return nil, err
	}
	body, err := fullEvent(ctx, l, id, n)
	return body.DecisionOrZero().Findings, err
}

// fullEvent returns an event of a task, whose contents are checked.
func fullEvent(ctx context.Context, l *ledger.Ledger, id string, n int64) (event.Full, error) {
	e, err := l.Event(ctx, id, n)
	if err != nil {
		return event.Full{}, err
	}
	return checkedBody(id, n, e)
}

// checkedBody returns the body of event n of a task, and checks the event's hash.
func checkedBody(id string, n int64, e ledger.Event) (event.Full, error) {
	body, err := event.DecodeFull(e)
	if err == nil && e.Hash != e.Sum() {
		err = fmt.Errorf("its hash is not that of its contents")
	}
	if err != nil {
		return event.Full{}, errTampered(id, "event %d: %w", n, err)
	}
	return body, nil
}

// stillOpen returns the findings that the last review left open, for a round without a
// review.
func (tx *taskTx) stillOpen(ctx context.Context) (*api.OpenReview, error) {
	found, d, err := openReview(ctx, tx.ledger, tx.status)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for i := range found {
		found[i].Sources = []finding.Source{}
	}
	return &api.OpenReview{Round: d.Round, Findings: found}, nil
}
