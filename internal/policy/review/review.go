// Package review asks a policy about a review: first for the bar, then for a decision about
// the findings that the bar leaves open (ADR-0024).
package review

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Review is a review that a policy is asked about.
type Review struct {
	// State is the task's state before the review, or the zero State without a task.
	State    task.State
	Findings []Finding
	// Round is the round of the review, MaxRounds the cap and HardCap the highest round.
	Round, MaxRounds, HardCap int
	Verify                    routing.Verify
	// Settled is set if every finding of the previous review is fixed or reported again.
	Settled bool
	// Confinement is the lowest level that one of the reports was made at, or "".
	Confinement confinement.Level
}

// Finding is a finding of a review. Decide sets Deferred, and sets Blocking if the severity
// or the destination requires it.
type Finding struct {
	task.Reviewed
	Severity finding.Severity
	// Route is the destination of its category in the policy.
	Route string
}

// Result is a policy's answer.
type Result struct {
	// Bar is the bar of the review: PolicyBar, which the policy gave for BarInput, or the bar
	// of an earlier review if that was higher. They are zero for a policy without a bar.
	Bar, PolicyBar routing.Bar
	BarInput       *routing.Input
	// Decision is the decision for Input, which is about the open findings.
	Decision routing.Decision
	Input    routing.Input
}

// Decide asks p about the review, and marks the findings that are deferred. A policy
// without a bar defers no findings.
//
// # Errors
//
// Errors from the methods Bar and Decide of routing.Policy. The result has the input that
// the policy failed on.
func (r Review) Decide(ctx context.Context, p *routing.Policy) (Result, error) {
	for i := range r.Findings {
		f := &r.Findings[i]
		to, _ := p.Destination(f.Route)
		f.Blocking = f.Blocking || to.Kind != routing.Agent || !routing.BarFail.Defers(f.Severity)
	}
	result := Result{Input: r.input(p)}
	if p.HasBar() {
		asked := result.Input
		result.BarInput = &asked
		bar, err := p.Bar(ctx, asked)
		if err != nil {
			return result, err
		}
		result.PolicyBar, result.Bar = bar, bar
		if latched := routing.Bar(r.State.Bar); latched.Above(bar) {
			result.Bar = latched
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			f.Deferred = !f.Blocking && result.Bar.Defers(f.Severity)
		}
		result.Input = r.input(p)
	}
	var err error
	result.Decision, err = p.Decide(ctx, result.Input)
	return result, err
}

// Progress compares the findings with those of earlier reviews.
func (r Review) Progress() task.Progress {
	reviewed := make([]task.Reviewed, len(r.Findings))
	for i, f := range r.Findings {
		reviewed[i] = f.Reviewed
	}
	return r.State.Measure(reviewed)
}

// input returns the policy's input about the findings that are not deferred.
func (r Review) input(p *routing.Policy) routing.Input {
	in := routing.Input{Round: r.Round, MaxRounds: r.MaxRounds, Verify: r.Verify, Routes: make(map[string]int)}
	for _, f := range r.Findings {
		if !f.Deferred {
			in.FindingCount++
			in.Routes[f.Route]++
		}
	}
	progress := r.Progress()
	in.NewCount, in.RepeatCount, in.ReopenedCount, in.ResolvedCount = progress.New, progress.Repeat, progress.Reopened, progress.Resolved
	in.NoProgress, in.StalledRounds = progress.IsStalled(), progress.Stalled
	if p.HasBar() {
		in.Facts = r.facts(in, progress)
	}
	return in
}

func (r Review) facts(in routing.Input, p task.Progress) *routing.Facts {
	left := max(r.HardCap-r.Round, 0)
	return &routing.Facts{
		HardCap: r.HardCap, RoundsLeft: left,
		MayExtend:      r.Settled && left > 0 && in.Productive(),
		FirstTimeCount: p.FirstTime, ReviewsSinceLow: p.SinceLow, InducedCount: p.Induced, InducedRounds: p.InducedRounds,
		BlockingCount: p.Blocking, DeferredCount: p.Deferred, Confinement: cmp.Or(r.Confinement, confinement.None),
	}
}
