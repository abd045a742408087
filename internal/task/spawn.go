package task

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// Role is the purpose of a spawned agent.
type Role string

// The roles.
const (
	RoleCritic     Role = "critic"
	RoleResearcher Role = "researcher"
	// RoleOther is for agents that a person spawns outside of a round. Its runs create no
	// task.
	RoleOther Role = "other"
	// RoleExecutor and RoleFixer edit the task's worktree, RolePlanChecker revises its plan.
	// A policy's destinations are further roles.
	RoleExecutor    Role = "executor"
	RoleFixer       Role = "build-fixer"
	RolePlanChecker Role = "plan-checker"
)

// OutcomeLost is the outcome of a run that the host did not see end, for example because
// the host was killed. The run counts as if it had used up its reserve.
const OutcomeLost outcome.Outcome = "lost"

// The parts of a receipt that may be unknown.
const (
	UnknownTokens = "tokens"
	UnknownMoney  = "microdollars"
)

// MaxOpenRuns limits the open runs of a task.
const MaxOpenRuns = 16

// Intent announces a run. It is recorded before the process starts, so an intent without
// a receipt shows a run that may have happened.
type Intent struct {
	// Run is the run's id, unique in the project.
	Run string `json:"run"`
	// Round is the run's round. ReserveRuns sets it.
	Round int    `json:"round"`
	Role  Role   `json:"role"`
	Agent string `json:"agent"`
	// Index numbers the agents of one role, from 0.
	Index int `json:"index,omitzero"`
	// Attempt counts the runs for the role and index, from 1, with retries and fallbacks.
	Attempt int    `json:"attempt"`
	Adapter string `json:"adapter"`
	// Why is first, resume, retry:CLASS or fallback:CLASS.
	Why string `json:"why"`
	// Reserve is the maximum amount that it may use.
	Reserve Amount `json:"reserve,omitzero"`
	// Prompt is the digest of its prompt, and Tree the digest of its working tree.
	Prompt string `json:"prompt,omitzero"`
	Tree   string `json:"tree,omitzero"`
	// Edits is set if it may edit the working tree.
	Edits bool `json:"edits,omitzero"`
}

// Receipt is the result of a run.
type Receipt struct {
	// Run is the id of the intent.
	Run string `json:"run"`
	// Outcome is the result of the run or OutcomeLost, Reason says why, and Class is the
	// class of its error, or "".
	Outcome outcome.Outcome `json:"outcome"`
	Reason  outcome.Reason  `json:"reason,omitzero"`
	Class   outcome.Class   `json:"class,omitzero"`
	// Next is the reaction to a failure: retry, fallback, hand-back (manual fallback), or
	// "".
	Next string `json:"next,omitzero"`
	// Used is the consumption; for the parts in Unknown it is a lower bound.
	Used    Amount   `json:"used,omitzero"`
	Unknown []string `json:"unknown,omitzero"`
	// Report is the digest of its report, or "", and Path the host's copy.
	Report string `json:"report,omitzero"`
	Path   string `json:"path,omitzero"`
	// Output is the digest of its final message, and Trail the digest of its trail record.
	Output string `json:"output,omitzero"`
	Trail  string `json:"trail,omitzero"`
	// Spawn is the process that the host observed, or nil.
	Spawn *Spawn `json:"spawn,omitzero"`
	Model string `json:"model,omitzero"`
	// Confinement is the level that it ran at, or "".
	Confinement confinement.Level `json:"confinement,omitzero"`
}

// Run is a spawn in a state.
type Run struct {
	Intent
	// Stale is set after a decision, and for a critic also after another draft: the run
	// does not count any more.
	Stale bool `json:"stale,omitzero"`
	// Receipt is nil while the run is open.
	Receipt *Receipt `json:"receipt,omitzero"`
}

// Cost returns the amount that a run counts for: its reserve while it is open, then its
// use. An unknown part counts as the reserve, or as its known amount if that is higher.
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

// Spending is the use of all ended runs of a task.
type Spending struct {
	// Task is the total, which no restart resets.
	Task Amount `json:"task,omitzero"`
	// Round is the share of this round's runs.
	Round Amount `json:"round,omitzero"`
	// Runs counts all ended runs.
	Runs int `json:"runs,omitzero"`
}

// OpenRuns returns the runs without a receipt, also from earlier rounds, in the order of
// their start.
func (s State) OpenRuns() []Run {
	var open []Run
	for _, r := range s.Runs {
		if r.Receipt == nil {
			open = append(open, r)
		}
	}
	return open
}

// LatestRun returns the last run of this round for a role and index that has ended and is
// not stale, whatever its outcome is, or nil.
func (s State) LatestRun(role Role, index int) *Run {
	for _, r := range slices.Backward(s.Runs) {
		if r.Receipt != nil && s.matches(r, role, index) {
			return &r
		}
	}
	return nil
}

// ConfinementOf returns the level of the run that wrote the report with this digest, or
// confinement.None if this round has no such run.
func (s State) ConfinementOf(run, report string) confinement.Level {
	for _, r := range s.Runs {
		if r.Run == run && r.Receipt != nil && r.Receipt.Report == report {
			return cmp.Or(r.Receipt.Confinement, confinement.None)
		}
	}
	return confinement.None
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

// ContinuedRuns returns the runs of this round for a role whose edits its next run continues, in
// the order of their start: those that count, and those that a usage limit ended, which are no
// attempts.
func (s State) ContinuedRuns(role Role) []Run {
	var runs []Run
	for _, r := range s.Runs {
		switch {
		case r.Round != max(s.Round, 1) || r.Role != role:
		case !r.Stale, r.Receipt != nil && r.Receipt.Class == outcome.Quota:
			runs = append(runs, r)
		default:
			runs = nil // A decision has judged the edits until then.
		}
	}
	return runs
}

func (s State) matches(r Run, role Role, index int) bool {
	return r.Round == max(s.Round, 1) && r.Role == role && r.Index == index && !r.Stale
}

// Rounds counts the rounds since the last start, including this one.
func (s State) Rounds() int { return max(s.Round, 1) - max(s.StartedRound, 1) + 1 }

// checkRuns rejects runs that no sequence of events folds to.
func (s State) checkRuns() error {
	if len(s.Runs) > maxListed || s.Spent.Runs < 0 {
		return fmt.Errorf("a task with %d runs, and %d that have ended", len(s.Runs), s.Spent.Runs)
	}
	for _, a := range []Amount{s.Spent.Task, s.Spent.Round} {
		if err := a.check(); err != nil {
			return err
		}
	}
	known := make(map[string]bool)
	for _, r := range s.Runs {
		switch {
		case r.Run == "" || known[r.Run]:
			return fmt.Errorf("the id %q of a run is missing or not unique", r.Run)
		case r.Round < 1 || r.Round > max(s.Round, 1):
			return fmt.Errorf("a task in round %d with a run of round %d", s.Round, r.Round)
		case r.Receipt != nil && (r.Receipt.Run != r.Run || r.Round != s.Round):
			return fmt.Errorf("a run %q of round %d that has ended as %q", r.Run, r.Round, r.Receipt.Run)
		}
		known[r.Run] = true
		if err := r.Reserve.check(); err != nil {
			return err
		}
		if r.Receipt != nil {
			if err := r.Receipt.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOutside rejects a state without a task that has fields of a task.
func (s State) checkOutside() error {
	if s.Round != 0 || s.StartedRound != 0 || s.MaxRounds != 0 || s.Last != nil || s.Stop != nil || s.Questions != nil {
		return fmt.Errorf("a task that does not exist, in round %d", s.Round)
	}
	for _, r := range s.Runs {
		if r.Role != RoleOther {
			return fmt.Errorf("a run of a %s that has made no task", r.Role)
		}
	}
	return nil
}
