// Package task is the state machine of one task (ADR-0014).
//
// Decide turns a command into an event or refuses it; Apply folds an event into a state.
// Both are pure, without I/O, clock, randomness or map order: the same events always give
// the same state. Times are passed in as texts of one format that sorts like times.
package task

import (
	"regexp"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// Status says whether a task can continue.
type Status string

// The statuses of a task. NoTask means that it does not exist yet.
const (
	NoTask    Status = ""
	Open      Status = "open"
	Waiting   Status = "waiting"
	Stuck     Status = "stuck"
	Committed Status = "committed"
	// Parked is a task that waits for the end of a usage limit, and Merging a task that is
	// being merged.
	Parked  Status = "parked"
	Merging Status = "merging"
)

// Phase is a step of a round.
type Phase string

// The phases, in the order of a round. Research, Design and Tests are optional.
const (
	Start    Phase = "start"
	Research Phase = "research"
	Design   Phase = "design"
	Tests    Phase = "tests"
	Draft    Phase = "draft"
	Review   Phase = "review"
	Commit   Phase = "commit"
)

// The limits of a task's cap, and its default.
const (
	MinRounds     = 1
	MaxRounds     = 100
	DefaultRounds = 3
)

// State is the fold of a task's events. Its size is bounded and does not grow with the
// task's history. The zero State is a task that does not exist yet. Runs without a task
// leave the Status at NoTask.
type State struct {
	// Round is the round of the next decision, from 1.
	Round int `json:"round"`
	// MaxRounds is the task's cap; 0 until its first decision or start.
	MaxRounds int `json:"max_rounds"`
	// HardCap is the highest round that a policy may let the task reach. It is 0 if MaxRounds
	// is, and also if an older version set MaxRounds: then twice MaxRounds applies.
	HardCap int `json:"hard_cap,omitzero"`
	// CustomCap is set if MaxRounds was set for this task, until its next commit or
	// restart.
	CustomCap bool   `json:"own_cap,omitzero"`
	Status    Status `json:"status"`
	// Phase is the last finished phase of this round, or "".
	Phase    Phase `json:"phase,omitzero"`
	Restarts int   `json:"restarts,omitzero"`
	// Query is the query of the last start.
	Query string `json:"query,omitzero"`
	// Tests are the test files written before the draft.
	Tests []string `json:"tests,omitzero"`
	// Last is the last decision, or nil.
	Last *RoundDecided `json:"last"`

	// The evidence of this round, which a decision uses up.

	// Verified is this round's green verification, or nil.
	Verified *Verification `json:"verification,omitzero"`
	// Attestations are the attestations of agents that have run.
	Attestations []Attestation `json:"stamps,omitzero"`
	Searches     []Search      `json:"searches,omitzero"`

	// Verifies is set once the task was verified, or if it was started with a verification. From
	// then on a commit needs a green verification of its round.
	Verifies bool `json:"verification_required,omitzero"`
	// Violations are the unrouted violations.
	Violations []Violation `json:"violations,omitzero"`
	// Questions are the questions to the user, open and answered ones, or nil.
	Questions *Questions `json:"questions,omitzero"`
	// Parked says why the task is parked, or is nil.
	Parked *Parking `json:"parked,omitzero"`
	// Branch is the task's own branch, nil if it is worked on in the checkout. Commit is
	// the commit for the last decision, and Merge the latest merge of it, or nil.
	Branch *Branch    `json:"branch,omitzero"`
	Commit *GitCommit `json:"commit,omitzero"`
	Merge  *Merge     `json:"merge,omitzero"`
	// Plan is the plan that a plan-checker has revised, or nil.
	Plan *RevisedPlan `json:"revised_plan,omitzero"`
	// Raised is the amount that the user has added to the task's budgets.
	Raised Raise `json:"raised_budget,omitzero"`
	// Stop says why the task is stuck, or is nil.
	Stop *Stop `json:"stop,omitzero"`
	// Overrides counts all gates that were forced, and Forced is the last one.
	Overrides int       `json:"override_count,omitzero"`
	Forced    *Override `json:"last_override,omitzero"`

	// The progress of reviews, see Measure.

	// Reviews counts the decisions based on reports.
	Reviews int `json:"reviews,omitzero"`
	// Stalled counts the last reviews in a row without progress.
	Stalled int `json:"stalled_rounds,omitzero"`
	// SinceLow and InducedRounds are about the last review, see Progress.
	SinceLow      int `json:"reviews_since_low,omitzero"`
	InducedRounds int `json:"induced_rounds,omitzero"`
	// Bar is the highest bar since the task was started or resumed, "" for all findings.
	// BarSince is the round since which the task has this bar, 0 for all.
	Bar      string `json:"bar,omitzero"`
	BarSince int    `json:"bar_since,omitzero"`

	// Runs are the spawns of this round and the open ones of earlier rounds, in the order
	// of their start.
	Runs  []Run    `json:"spawns,omitzero"`
	Spent Spending `json:"spent,omitzero"`

	Internals `json:"memory,omitzero"`
}

// Internals are the parts of a state for this package's own decisions. They may change.
type Internals struct {
	// StartedRound is the round of the last start. The executor makes its draft, and the
	// build-fixer makes the drafts of later rounds.
	StartedRound int `json:"fresh,omitzero"`
	// Manual is set if a person makes this round's draft, which then needs no
	// attestation.
	Manual bool `json:"manual,omitzero"`
	// Evidence lists the decided reports that name this round.
	Evidence []string `json:"evidence,omitzero"`
	// NonAdvancing counts the decisions that did not end this round.
	NonAdvancing int `json:"kept,omitzero"`
	// FewestFirstTime is the least number of first-time findings of a review that had any,
	// or 0.
	FewestFirstTime int `json:"low,omitzero"`
	// Remaining is the number of open findings of the last review.
	Remaining int `json:"remaining,omitzero"`
	// Draft is RoundDecided.Draft of the last review since the work began.
	Draft string `json:"draft,omitzero"`
	// ResetReview is the last review before a reset: a finding last seen in it or
	// earlier counts as new.
	ResetReview int `json:"forgotten,omitzero"`
}

// RevisedPlan is the host's copy of a revised plan.
type RevisedPlan struct {
	Path string `json:"path"`
	// Digest is the digest of the plan-checker's whole answer.
	Digest string `json:"digest"`
}

// Stop says why a task is stuck.
type Stop struct {
	Round  int    `json:"round"`
	Reason string `json:"reason"`
	// By is a policy such as routing@1.2.0, a person, or BySwitchyard.
	By string `json:"by"`
	// FindingCount is the number of open findings.
	FindingCount int `json:"finding_count"`
}

// Override is a forced gate.
type Override struct {
	Round int   `json:"round"`
	Phase Phase `json:"phase"`
	Force
}

var idPattern = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckID returns an error unless id is a task id: a letter or digit, then up to 127
// letters, digits, dots, underscores and dashes.
func CheckID(id string) error {
	if len(id) <= 128 && idPattern().MatchString(id) {
		return nil
	}
	err := errs.New(errs.TaskInvalidID, "%.200q is not a task id: 1 to 128 letters, digits and any of . _ -, a letter or digit first", id)
	if near := nearID(id); near != "" {
		err = err.WithHint("choose another id, such as " + near)
	}
	return err
}

// nearID returns a task id derived from a text, such as the name of a branch, with a dash
// for each run of other characters. It is "" if the text has no valid characters.
func nearID(text string) string {
	id := regexp.MustCompile(`[^A-Za-z0-9_.]+`).ReplaceAllString(text, "-")
	return strings.Trim(id[:min(len(id), 128)], "-_.")
}
