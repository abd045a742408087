package round

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Findings lists the findings that the review of a round, or the latest one if round is 0,
// left open, or those that are deferred after it.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (e *Engine) Findings(ctx context.Context, id string, round int, deferred bool) (api.FindingList, error) {
	r, err := e.readTask(ctx, id)
	defer r.close()
	if err != nil {
		return api.FindingList{}, err
	}
	end := r.head.N
	if round > 0 {
		if end, err = r.decisionOf(ctx, round, "", nil); err != nil {
			return api.FindingList{}, err
		}
		r.status.FindingsEvent = end
	}
	if deferred {
		return r.deferredFindings(ctx, end)
	}
	open, review, err := r.openReview(ctx)
	return api.FindingList{TaskID: id, Round: review.Round, Bar: review.Bar, Findings: listReview(open, review.Round)}, err
}

func listReview(findings []finding.Finding, round int) []api.ListedFinding {
	listed := make([]api.ListedFinding, len(findings))
	for i, f := range findings {
		listed[i] = api.ListedFinding{Round: round, Finding: f}
	}
	return listed
}

// deferredFindings lists the findings of a task that are deferred after event end, those
// of the latest review first. A critic does not learn of them, so a finding that later
// reviews do not report is still deferred.
func (r *taskRecord) deferredFindings(ctx context.Context, end int64) (api.FindingList, error) {
	none := api.FindingList{TaskID: r.id, Deferred: true, Findings: []api.ListedFinding{}}
	list := none
	var state task.State
	for e, err := range r.ledger.Events(ctx, r.id, 1) {
		if err != nil {
			return none, err
		}
		if e.N > end {
			break
		}
		body, err := r.readFull(e.N, e)
		if err != nil {
			return none, err
		}
		next, err := task.Apply(state, body.Event)
		if err != nil {
			return none, errTampered(r.id, "event %d: %w", e.N, err)
		}
		if next.ResetReview > state.ResetReview {
			list = none // The findings belong to the work before.
		}
		if next.Reviews > state.Reviews {
			d := body.DecisionOrZero()
			reported := make(map[string]bool)
			for _, f := range slices.Concat(d.Findings, d.Deferred) {
				reported[f.Fingerprint] = true
			}
			earlier := slices.DeleteFunc(list.Findings, func(f api.ListedFinding) bool { return reported[f.Fingerprint] })
			list.Round, list.Bar, list.Findings = d.Round, d.Bar, append(listReview(d.Deferred, d.Round), earlier...)
		}
		state = next
	}
	return list, nil
}

// The deferred findings that a commit names, and the code points of the place of each.
const (
	maxDeferredNamed = 1000
	maxDeferredPlace = 200
)

// nameDeferred names the first findings that are deferred after event end, in a line each.
func (r *taskRecord) nameDeferred(ctx context.Context, end int64) ([]string, error) {
	list, err := r.deferredFindings(ctx, end)
	all := list.Findings
	var names []string
	for _, f := range all[:min(len(all), maxDeferredNamed)] {
		names = append(names, fmt.Sprintf("%s %s %s %s", f.Fingerprint, f.Severity, f.Category, textutil.Clip(f.Location(), maxDeferredPlace)))
	}
	if more := len(all) - maxDeferredNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return names, err
}
