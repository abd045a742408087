package handoff

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Lines formats findings for an agent, a line each.
func Lines(findings []finding.Finding) []string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = Line(f)
		if f.IsInduced() {
			lines[i] += " (induced by the last fix)"
		}
	}
	return lines
}

// Churn lists the fixes that caused the findings of the last reviews, a line each, if the
// last decision was made because of churn.
func Churn(ctx context.Context, tx *tasktx.Tx) ([]string, error) {
	if tx.Status.Last == nil || tx.Status.Last.Reason != task.ReasonChurn {
		return nil, nil
	}
	history, err := tx.History(ctx)
	if err != nil {
		return nil, err
	}
	var lines []string
	reviews := tx.Status.Last.InducedRounds
	for _, entry := range slices.Backward(history) {
		if reviews == 0 {
			break
		}
		body, err := tx.FullEvent(ctx, entry.Event.N)
		if err != nil {
			return nil, err
		}
		d := body.DecisionOrZero()
		if d.InducedCount == nil {
			continue // It is not a review.
		}
		reviews--
		var review []string
		for _, p := range d.Previous {
			place := finding.Finding{File: p.File, Line: p.Line}.Location()
			review = append(review, fmt.Sprintf("to be fixed before round %d: %s %s, now %s", d.Round, p.Category, place, p.Status))
		}
		for _, f := range slices.Concat(d.Findings, d.Deferred) {
			if f.IsInduced() {
				review = append(review, fmt.Sprintf("caused by that, in round %d: %s", d.Round, Line(f)))
			}
		}
		lines = append(review, lines...)
	}
	return lines, nil
}

// Line formats a finding as one line.
func Line(f finding.Finding) string {
	return fmt.Sprintf("%s %s %s: %s", f.Severity, f.Category, f.Location(), f.Remediation)
}
