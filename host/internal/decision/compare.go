package decision

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/linediff"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// comparison compares the findings of a review with the task's earlier reviews.
type comparison struct {
	state    task.State
	findings []task.Reviewed
	// previous has the current status of each finding of the previous review.
	previous []api.PreviousFinding
}

// isSettled reports whether every finding of the previous review is reported again under its
// fingerprint, or known to be fixed or withdrawn.
func (c comparison) isSettled(reported []finding.Finding) bool {
	return !slices.ContainsFunc(c.previous, func(p api.PreviousFinding) bool {
		return p.Status == finding.Unverified || p.Status == finding.Open &&
			!slices.ContainsFunc(reported, func(f finding.Finding) bool { return f.Fingerprint == p.Fingerprint })
	})
}

// compareReview sets how each finding of a review compares with the task's earlier reviews.
func compareReview(ctx context.Context, t *record.Task, evidence []pluginset.Report, findings []finding.Finding) (comparison, error) {
	c := comparison{state: t.Status.State, findings: make([]task.Reviewed, len(findings))}
	past, err := t.Traces(ctx, findings)
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
	c.previous, err = AnswerPrevious(ctx, t, evidence, findings)
	c.markRenamed(findings)
	return c, err
}

// markRenamed marks one finding for each finding of the previous review that a report states
// to be open and reports in other words.
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

// StillOpen returns the findings that the last review left open, for a round without a
// review.
func StillOpen(ctx context.Context, t *record.Task) (*api.OpenReview, error) {
	found, d, err := t.OpenReview(ctx)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for i := range found {
		found[i].Sources = []finding.Source{}
	}
	return &api.OpenReview{Round: d.Round, Findings: found}, nil
}

// markInduced sets which findings are in changed lines, and counts them. It returns nil if
// the changes are not known.
func markInduced(findings []finding.Finding, changes linediff.Changes) *int {
	if changes == nil {
		return nil
	}
	count := 0
	for i := range findings {
		f := &findings[i]
		f.Induced = new(f.File != nil && f.Line != nil && changes.Has(*f.File, *f.Line))
		if *f.Induced {
			count++
		}
	}
	return &count
}
