package bench

import (
	"cmp"
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/review"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// destination is where all findings of a series go: sources publish no categories.
const destination = "executor"

// Report is the result of playing series through policies.
type Report struct {
	Series []SeriesResult `json:"series"`
}

// SeriesResult is the result of one series.
type SeriesResult struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Source  string `json:"source"`
	Kind    string `json:"kind"`
	Reviews int    `json:"reviews"`
	// Policies are in the order in which they were given.
	Policies []PolicyResult `json:"policies"`
}

// PolicyResult is the end of a series under one policy.
type PolicyResult struct {
	Policy routing.Identity `json:"policy"`
	// Capped is the end with the default cap, and Uncapped with the highest cap.
	Capped   Ending `json:"capped"`
	Uncapped Ending `json:"uncapped"`
}

// Ending is a policy's last decision about a series.
type Ending struct {
	MaxRounds int `json:"max_rounds"`
	// Review is the number of the review, from 1.
	Review int `json:"review"`
	// Ended is false if the policy would have continued after the last review.
	Ended bool `json:"ended"`
	routing.Decision
	// Open and Deferred count the findings of that review.
	Open     OpenFindings `json:"open"`
	Deferred OpenFindings `json:"deferred,omitzero"`
	// Bar is the bar of that review, or "" for a policy without bars. BarAt is the number of
	// the first review with a bar above all, or 0.
	Bar   routing.Bar `json:"bar,omitzero"`
	BarAt int         `json:"bar_at,omitzero"`
}

// OpenFindings counts the findings of a review.
type OpenFindings struct {
	First
	// Repeated counts the findings that the previous review had too.
	Repeated int `json:"repeated,omitzero"`
}

// Run plays each series through each policy.
//
// # Errors
//
// policy-invalid-input for a policy without the destination of all findings, and errors from
// review.Review.Decide.
func Run(ctx context.Context, all []Series, policies []*routing.Policy) (Report, error) {
	for _, p := range policies {
		if !slices.Contains(p.Precedence(), destination) {
			return Report{}, errs.New(errs.PolicyInvalidInput, "policy %s sends no finding to %s, where all findings of a series go", p, destination).
				With("policy", p.String()).WithHint("name policies with " + destination + " in their precedence")
		}
	}
	var report Report
	for _, s := range all {
		result := SeriesResult{Name: s.Name, Title: s.Title, Source: s.Source, Kind: s.Kind, Reviews: len(s.Reviews)}
		for _, p := range policies {
			capped, err := play(ctx, s, p, task.DefaultRounds)
			if err != nil {
				return Report{}, err
			}
			uncapped, err := play(ctx, s, p, routing.MaxRoundsLimit)
			if err != nil {
				return Report{}, err
			}
			result.Policies = append(result.Policies, PolicyResult{p.Identity(), capped, uncapped})
		}
		report.Series = append(report.Series, result)
	}
	return report, nil
}

// play lets a policy decide about the reviews of a series until it stops sending the task
// to an agent. Verification is always green.
func play(ctx context.Context, s Series, p *routing.Policy, maxRounds int) (Ending, error) {
	var state task.State
	var before []review.Finding
	end := Ending{MaxRounds: maxRounds}
	state.Round = 1
	for i, r := range s.Reviews {
		asked := review.Review{
			State: state, Findings: r.findings(state.Reviews, before), Round: state.Round, MaxRounds: maxRounds,
			HardCap: task.HardCap(maxRounds, 0), Verify: routing.Green, Settled: r.Open == 0,
		}
		result, err := asked.Decide(ctx, p)
		if err != nil {
			return Ending{}, err
		}
		to, _ := p.Destination(result.Decision.NextAction)
		end.Review, end.Ended, end.Decision, end.Bar = i+1, to.Kind != routing.Agent, result.Decision, result.Bar
		if end.BarAt == 0 && result.Bar.Above(routing.BarAll) {
			end.BarAt = i + 1
		}
		end.Open, end.Deferred = count(asked.Findings, false), count(asked.Findings, true)
		if end.Ended {
			break
		}
		state = state.AfterReview(result.Input.FindingCount, asked.Progress())
		if result.Bar.Above(routing.BarAll) {
			state.Bar = string(result.Bar)
		}
		if to.AdvancesRound {
			state.Round++
		}
		before = asked.Findings
	}
	return end, nil
}

// findings returns the findings of a review. The sources only count them, so the open ones
// are assumed to be the most severe findings of the previous review, and the induced ones
// the most severe first-time findings.
func (r *Review) findings(reviews int, before []review.Finding) []review.Finding {
	var all []review.Finding
	for _, s := range severities() {
		for range *r.First.of(s) {
			f := review.Finding{Severity: s, Route: destination, Reviewed: task.Reviewed{Status: task.New}}
			if r.Induced != nil {
				f.Induced = new(len(all) < *r.Induced)
			}
			all = append(all, f)
		}
	}
	for _, f := range before[:r.Open] {
		again := review.Finding{Severity: f.Severity, Route: destination, Reviewed: task.Reviewed{
			Status: task.Repeat, Past: task.Trace{Last: reviews, Deferred: f.Deferred},
		}}
		if r.Induced != nil {
			again.Induced = new(bool)
		}
		all = append(all, again)
	}
	slices.SortStableFunc(all, func(a, b review.Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return all
}

// count counts the open or the deferred findings of a review.
func count(findings []review.Finding, deferred bool) OpenFindings {
	var n OpenFindings
	for _, f := range findings {
		switch {
		case f.Deferred != deferred:
		case f.Status == task.Repeat:
			n.Repeated++
		default:
			*n.First.of(f.Severity)++
		}
	}
	return n
}
