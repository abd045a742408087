package api

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// MaxEvaluated is the maximum of EvaluateRequest.Last.
const MaxEvaluated = 1000

// EvaluateRequest names past commits.
type EvaluateRequest struct {
	// Last is the number of commits, from HEAD along first parents, 1 to MaxEvaluated.
	Last int
	// Merges selects only commits with several parents.
	Merges bool
	// Observe is called before each commit.
	Observe func(done, of int64)
}

// Evaluation has the decisions that first reviews of past commits would have made. It is
// not recorded.
type Evaluation struct {
	Policy routing.Identity `json:"policy"`
	// Commits are the newest first.
	Commits []EvaluatedCommit `json:"commits"`
	// Outcomes counts the commits, and Rules the findings; both the most frequent first.
	Outcomes []EvaluatedOutcome `json:"outcomes"`
	Rules    []EvaluatedRule    `json:"rules"`
	// Submodules are the submodules of the latest commit that has any. They are not checked
	// out.
	Submodules []string `json:"submodules,omitzero"`
}

// Totals counts the decisions to commit, the other ones, and the commits without a decision.
func (e Evaluation) Totals() (committed, others, failed int64) {
	for _, o := range e.Outcomes {
		switch o.NextAction {
		case routing.Commit:
			committed += o.Commits
		case ActionFailed:
			failed += o.Commits
		default:
			others += o.Commits
		}
	}
	return committed, others, failed
}

// EvaluatedCommit is a commit with the decision that its first review would have made.
type EvaluatedCommit struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	// NextAction and Reason are the decision's. Without one NextAction is failed.
	NextAction string         `json:"next_action"`
	Reason     string         `json:"reason"`
	Verify     routing.Verify `json:"verify"`
	// Output is the last line that a red verification printed.
	Output   string `json:"output,omitzero"`
	Findings int    `json:"findings"`
	// Error says why the commit could not be evaluated, or is nil.
	Error *errs.Error `json:"error,omitzero"`
}

// EvaluatedOutcome counts the commits with the same decision.
type EvaluatedOutcome struct {
	NextAction string `json:"next_action"`
	// Reason is the code of the error if NextAction is failed.
	Reason  string `json:"reason"`
	Commits int64  `json:"commits"`
}

// EvaluatedRule counts the findings of a linter's rule, and the commits that have one.
type EvaluatedRule struct {
	// Rule is the beginning of the remediation, up to a colon, or else the finding's
	// category.
	Rule     string `json:"rule"`
	Route    string `json:"route"`
	Commits  int64  `json:"commits"`
	Findings int64  `json:"findings"`
}
