package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Findings lists the findings that the review of a round, or the latest one if round is 0,
// left open or, if deferred is set, the findings that are deferred after it.
//
// # Errors
//
// round-not-found, ledger-tampered, and the ledger's codes.
func (r *Task) Findings(ctx context.Context, round int, deferred bool) (api.FindingList, error) {
	at, end := *r, r.Head.N
	if round > 0 {
		n, err := r.decisionOf(ctx, round, "", nil)
		if err != nil {
			return api.FindingList{}, err
		}
		at.Status.FindingsEvent, end = n, n
	}
	if deferred {
		return r.deferredFindings(ctx, end)
	}
	open, review, err := at.OpenReview(ctx)
	return api.FindingList{TaskID: r.ID, Round: review.Round, Bar: review.Bar, Findings: listReview(open, review.Round)}, err
}

func listReview(findings []finding.Finding, round int) []api.ListedFinding {
	listed := make([]api.ListedFinding, len(findings))
	for i, f := range findings {
		listed[i] = api.ListedFinding{Round: round, Finding: f}
	}
	return listed
}

// deferredFindings lists the findings of a task that are deferred after event end, the latest
// review first. A critic does not learn of them, so a finding that later reviews do not
// report is still deferred.
func (r *Task) deferredFindings(ctx context.Context, end int64) (api.FindingList, error) {
	none := api.FindingList{TaskID: r.ID, Deferred: true, Findings: []api.ListedFinding{}}
	list := none
	var state task.State
	for e, err := range r.Ledger.Events(ctx, r.ID, 1) {
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
			return none, event.Tampered(r.ID, "event %d: %w", e.N, err)
		}
		if next.ResetReview > state.ResetReview {
			list = none // The findings belong to work that was reset.
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

const (
	maxDeferredNamed = 1000 // deferred findings in a commit message
	maxDeferredPlace = 200  // code points of a finding's location there
)

// NameDeferred names the first findings that are deferred after event end, in a line each.
func (r *Task) NameDeferred(ctx context.Context, end int64) ([]string, error) {
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

// Traces returns the history of findings, by fingerprint.
func (r *Task) Traces(ctx context.Context, findings []finding.Finding) (map[string]task.Trace, error) {
	keys := make([]string, len(findings))
	for i, f := range findings {
		keys[i] = keyFinding + f.Fingerprint
	}
	texts, err := r.Ledger.Entries(ctx, r.ID, keys)
	if err != nil {
		return nil, err
	}
	past := make(map[string]task.Trace, len(texts))
	for key, text := range texts {
		var t task.Trace
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, event.Tampered(r.ID, "the history of %s cannot be read: %w", key, err)
		}
		past[key[len(keyFinding):]] = t
	}
	return past, nil
}

// OpenFindings returns the findings of the task's latest decision, or of the person who
// stopped it.
func (r *Task) OpenFindings(ctx context.Context) ([]finding.Finding, error) {
	body, err := r.FindingsEvent(ctx)
	return append(body.Findings, body.DecisionOrZero().Findings...), err
}

// OpenReview returns the findings of the latest review, or of a person or an import, and the
// decision on that review as far as it is known.
func (r *Task) OpenReview(ctx context.Context) ([]finding.Finding, api.Decision, error) {
	body, err := r.FindingsEvent(ctx)
	d := body.DecisionOrZero()
	if decided, ok := body.Event.(*task.RoundDecided); ok && !decided.Reviewed { // Its critic failed.
		if d.StillOpen == nil {
			return nil, api.Decision{}, err
		}
		return d.StillOpen.Findings, api.Decision{Round: d.StillOpen.Round}, err
	}
	return append(body.Findings, d.Findings...), d, err
}

// FindingsEvent returns the event with the task's open findings, or the zero Full.
func (r *Task) FindingsEvent(ctx context.Context) (event.Full, error) {
	if r.Status.FindingsEvent == 0 {
		return event.Full{}, nil
	}
	return r.FullEvent(ctx, r.Status.FindingsEvent)
}

// DecidedFindings returns the findings of the latest decision of a round, nil if the round
// was not decided.
func (r *Task) DecidedFindings(ctx context.Context, round int) ([]finding.Finding, error) {
	n, err := r.decisionOf(ctx, round, "", nil)
	if errs.CodeOf(err) == errs.RoundNotFound {
		return nil, nil // The findings were imported.
	}
	if err != nil {
		return nil, err
	}
	body, err := r.FullEvent(ctx, n)
	return body.DecisionOrZero().Findings, err
}
