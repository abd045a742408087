package api

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxEvaluated is the maximum of EvaluateRequest.Last.
const MaxEvaluated = 1000

// EvaluateRequest names past commits.
type EvaluateRequest struct {
	// Last is how many commits of HEAD and its first parents, 1 to MaxEvaluated.
	Last int
	// Merges selects only those with several parents.
	Merges bool
	// Observe is called before each commit.
	Observe func(done, of int64)
}

// Evaluation says what the gate would have said of past commits. Nothing of it is recorded.
type Evaluation struct {
	Policy routing.Identity `json:"policy"`
	// Commits are the newest first.
	Commits []EvaluatedCommit `json:"commits"`
	// Outcomes counts the commits, and Rules the findings; both the most frequent first.
	Outcomes []EvaluatedOutcome `json:"outcomes"`
	Rules    []EvaluatedRule    `json:"rules"`
	// Submodules are those of the latest commit that has any. They are not checked out.
	Submodules []string `json:"submodules,omitzero"`
}

// Totals counts the commits that would pass, those that would not, and those without a
// decision.
func (e Evaluation) Totals() (committed, refused, failed int64) {
	for _, o := range e.Outcomes {
		switch o.NextAction {
		case routing.Commit:
			committed += o.Commits
		case ActionFailed:
			failed += o.Commits
		default:
			refused += o.Commits
		}
	}
	return committed, refused, failed
}

// EvaluatedCommit is what the first review of a commit would have decided.
type EvaluatedCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	// NextAction and Reason are those of the decision; NextAction is failed if there is none.
	NextAction string         `json:"next_action"`
	Reason     string         `json:"reason"`
	Verify     routing.Verify `json:"verify"`
	// Output is the last line that a red verification printed.
	Output   string `json:"output,omitzero"`
	Findings int    `json:"findings"`
	// Error is why the commit could not be evaluated, nil if it could.
	Error *errs.Error `json:"error,omitzero"`
}

// EvaluatedOutcome counts the commits that would have had a decision.
type EvaluatedOutcome struct {
	NextAction string `json:"next_action"`
	// Reason is the code of the error if NextAction is failed.
	Reason  string `json:"reason"`
	Commits int64  `json:"commits"`
}

// EvaluatedRule counts the findings of a linter's rule, and the commits that have one.
type EvaluatedRule struct {
	// Rule begins the remediation, in front of a colon; a finding without one counts by its
	// category.
	Rule     string `json:"rule"`
	Route    string `json:"route"`
	Commits  int64  `json:"commits"`
	Findings int64  `json:"findings"`
}
