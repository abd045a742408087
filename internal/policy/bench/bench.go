package bench

import (
	"context"
	"slices"

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

// PolicyResult is how a series ends by one policy.
type PolicyResult struct {
	Policy routing.Identity `json:"policy"`
	// Capped is the end with the default cap, and Uncapped that with the highest cap.
	Capped   Ending `json:"capped"`
	Uncapped Ending `json:"uncapped"`
}

// Ending is the last decision of a series by one policy.
type Ending struct {
	MaxRounds int `json:"max_rounds"`
	// Review is the review that was decided last.
	Review int `json:"review"`
	// Ended is false if the policy would have gone on after the last review.
	Ended bool `json:"ended"`
	routing.Decision
	// Open has the findings of that review.
	Open OpenFindings `json:"open"`
}

// OpenFindings counts the findings of a review.
type OpenFindings struct {
	First
	// Repeated is the number of those that the review before had too.
	Repeated int `json:"repeated,omitzero"`
}

// Run plays each series through each policy.
//
// # Errors
//
// Those of routing.Policy.Decide.
func Run(ctx context.Context, all []Series, policies []*routing.Policy) (Report, error) {
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

// play lets a policy decide about the reviews of a series until it sends the task to a
// person, or to an end. Verification is always green.
func play(ctx context.Context, s Series, p *routing.Policy, maxRounds int) (Ending, error) {
	var past task.State
	var end Ending
	round := 1
	for i, r := range s.Reviews {
		found := r.Count() + r.Open
		progress := past.Measure(slices.Concat(
			slices.Repeat([]task.FindingStatus{task.New}, r.Count()),
			slices.Repeat([]task.FindingStatus{task.Repeat}, r.Open),
		))
		d, err := p.DecideRetrying(ctx, routing.Input{
			Round: round, MaxRounds: maxRounds, Verify: routing.Green,
			FindingCount: found, Routes: map[string]int{destination: found},
			NewCount: progress.New, RepeatCount: progress.Repeat, ResolvedCount: progress.Resolved,
			NoProgress: progress.IsStalled(), StalledRounds: progress.Stalled,
		})
		if err != nil {
			return Ending{}, err
		}
		to, _ := p.Destination(d.NextAction)
		end = Ending{
			MaxRounds: maxRounds, Review: i + 1, Ended: to.Kind != routing.Agent,
			Decision: d, Open: OpenFindings{r.First, r.Open},
		}
		if end.Ended {
			break
		}
		if to.AdvancesRound {
			round++
		}
		past.Reviews++
		past.Remaining, past.Stalled = found, progress.Stalled
	}
	return end, nil
}
