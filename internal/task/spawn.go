package task

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// Role is what a spawned agent is there for.
type Role string

// The roles.
const (
	RoleCritic     Role = "critic"
	RoleResearcher Role = "researcher"
	// RoleOther: a person has it spawned, for no round's sake. It makes no task.
	RoleOther Role = "other"
)

// OutcomeLost is the outcome of a run of which nobody knows how it ended, as
// after a kill of the host. It counts as having used up its reserve.
const OutcomeLost outcome.Outcome = "lost"

// What a receipt may not know.
const (
	UnknownTokens = "tokens"
	UnknownMoney  = "microdollars"
)

// MaxOpenRuns is how many runs of a task may be open at a time.
const MaxOpenRuns = 16

// Intent says that an agent is about to be run. It is durable before its process
// starts, so that whoever finds it without a receipt knows what may have run.
type Intent struct {
	// Run identifies the run, in the whole project.
	Run string `json:"run"`
	// Round is the round that it is for. Reserve fills it in.
	Round int    `json:"round"`
	Role  Role   `json:"role"`
	Agent string `json:"agent"`
	// Index tells the agents of one role apart, from 0.
	Index int `json:"index,omitzero"`
	// Attempt counts the runs for the same role and index, from 1, over retries
	// and fallbacks.
	Attempt int    `json:"attempt"`
	Adapter string `json:"adapter"`
	// Why is first, resume, retry:CLASS or fallback:CLASS.
	Why string `json:"why"`
	// ReserveRuns is the most that it may use up.
	Reserve Amount `json:"reserve,omitzero"`
	// Prompt is the digest of its prompt, and Tree that of the working tree that
	// it is about.
	Prompt string `json:"prompt,omitzero"`
	Tree   string `json:"tree,omitzero"`
}

// Receipt says how a run ended.
type Receipt struct {
	// Run is that of the intent.
	Run string `json:"run"`
	// DecideRound is the judgement on the run or OutcomeLost; Reason says why, and
	// Class is that of its error, "" for none.
	Outcome outcome.Outcome `json:"outcome"`
	Reason  outcome.Reason  `json:"reason,omitzero"`
	Class   outcome.Class   `json:"class,omitzero"`
	// Next says what follows where it failed: retry, fallback or hand-back, "" for
	// nothing.
	Next string `json:"next,omitzero"`
	// Used is what it used up; of what Unknown lists, at least that much.
	Used    Amount   `json:"used,omitzero"`
	Unknown []string `json:"unknown,omitzero"`
	// Report is the digest of its report, "" for none, and Path where the host
	// keeps it.
	Report string `json:"report,omitzero"`
	Path   string `json:"path,omitzero"`
	// Output is the digest of its final message, and Trail that of its trail
	// record.
	Output string `json:"output,omitzero"`
	Trail  string `json:"trail,omitzero"`
	// Spawn is what the host saw of its process, nil where none was.
	Spawn *Spawn `json:"spawn,omitzero"`
	Model string `json:"model,omitzero"`
}

// Run is a spawn as a state keeps it.
type Run struct {
	Intent
	// Stale says that something has come since it began for which it does not
	// count: a decision, or for a critic another draft.
	Stale bool `json:"stale,omitzero"`
	// Receipt is nil while the run is open.
	Receipt *Receipt `json:"receipt,omitzero"`
}

// Cost is what a run counts for: what it used up once it has ended, and what it
// reserves until then. What is unknown counts as the reserve, or as what is
// known of it if that is more. What was used beyond the reserve counts as it is.
func (r Run) Cost() Amount {
	if r.Receipt == nil {
		return r.Reserve
	}
	cost, lost := r.Receipt.Used, r.Receipt.Outcome == OutcomeLost
	if lost {
		cost.Millis = max(cost.Millis, r.Reserve.Millis)
	}
	if lost || slices.Contains(r.Receipt.Unknown, UnknownTokens) {
		cost.Tokens = max(cost.Tokens, r.Reserve.Tokens)
	}
	if lost || slices.Contains(r.Receipt.Unknown, UnknownMoney) {
		cost.MicroDollars = max(cost.MicroDollars, r.Reserve.MicroDollars)
	}
	return cost
}

// Spending is what a task has used up by runs that have ended.
type Spending struct {
	// Task is what it has used up ever: no new start forgets it.
	Task Amount `json:"task,omitzero"`
	// Round is the part of this round's own runs.
	Round Amount `json:"round,omitzero"`
	// Runs counts the runs that have ended, ever.
	Runs int `json:"runs,omitzero"`
}

// OpenRuns returns the runs that have no receipt, those of earlier rounds included,
// in the order in which they began.
func (s State) OpenRuns() []Run {
	var open []Run
	for _, r := range s.Runs {
		if r.Receipt == nil {
			open = append(open, r)
		}
	}
	return open
}

// LatestRun returns the newest run of this round for a role and index that has
// ended and is not stale, whatever its outcome, or nil.
func (s State) LatestRun(role Role, index int) *Run {
	for _, r := range slices.Backward(s.Runs) {
		if r.Receipt != nil && s.matches(r, role, index) {
			return &r
		}
	}
	return nil
}

// Attempts counts the runs of this round for a role and index that are not stale,
// open ones included.
func (s State) Attempts(role Role, index int) int {
	n := 0
	for _, r := range s.Runs {
		if s.matches(r, role, index) {
			n++
		}
	}
	return n
}

// matches reports whether a run is one of this round for a role and index.
func (s State) matches(r Run, role Role, index int) bool {
	return r.Round == max(s.Round, 1) && r.Role == role && r.Index == index && !r.Stale
}

// Rounds counts the task's rounds since its work began or began anew, this one
// included.
func (s State) Rounds() int { return max(s.Round, 1) - max(s.StartedRound, 1) + 1 }
