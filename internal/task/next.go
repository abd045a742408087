package task

import (
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

// StepKind is the kind of a step of a task that `run` drives (ADR-0022).
type StepKind string

// The steps.
const (
	StepStart  StepKind = "start"  // Record the task and its text.
	StepBranch StepKind = "branch" // Create the branch and the worktree.
	StepDraft  StepKind = "draft"  // Run Step.Role, which edits the worktree.
	StepReview StepKind = "review" // Verify, review and decide the draft.
	StepAssist StepKind = "assist" // Run Step.Role, the agent that the decision named.
	StepAsk    StepKind = "ask"    // Wait for the user's answer.
	StepPark   StepKind = "park"   // Wait until a usage limit ends.
	StepCommit StepKind = "commit" // Commit the reviewed tree.
	StepMerge  StepKind = "merge"  // Continue a merge that was begun.
	StepStuck  StepKind = "stuck"  // A person must act.
	StepDone   StepKind = "done"   // The task is committed.
)

// Step is the next step of a task.
type Step struct {
	Kind StepKind
	// Role is the agent to run, or "".
	Role Role
}

// Next returns the next step of a task. It is the only place that knows the order of the
// steps: a run that was killed continues with the step that has no recorded end.
func Next(s State) Step {
	switch s.Status {
	case NoTask:
		return Step{Kind: StepStart}
	case Waiting:
		return Step{Kind: StepAsk}
	case Parked:
		return Step{Kind: StepPark}
	case Stuck:
		return Step{Kind: StepStuck}
	case Merging:
		return Step{Kind: StepMerge}
	case Committed:
		if s.Branch != nil && s.Commit == nil && s.decidedTree() != "" {
			return Step{Kind: StepCommit}
		}
		return Step{Kind: StepDone}
	}
	switch role := s.assistant(); {
	case s.Branch == nil || !s.Branch.Created:
		return Step{Kind: StepBranch}
	case s.Manual && !s.isDecided() || s.isDrafted() || s.IsUnreviewed():
		return Step{Kind: StepReview}
	case role != "":
		return Step{Kind: StepAssist, Role: role}
	case s.Round > s.StartedRound:
		return Step{Kind: StepDraft, Role: RoleFixer}
	default:
		return Step{Kind: StepDraft, Role: RoleExecutor}
	}
}

// IsUnreviewed reports whether the task was resumed with a draft that no critic has judged,
// because the critic failed. A decision before the last start was about another draft.
func (s State) IsUnreviewed() bool {
	return s.Last != nil && !s.Last.Reviewed && s.Last.Verify != red && s.Last.NextRound < s.Round && s.Last.Round >= s.StartedRound &&
		!slices.ContainsFunc(s.Runs, func(r Run) bool { return r.Edits })
}

// isDrafted reports whether an agent has edited the tree for this round's next decision.
func (s State) isDrafted() bool {
	return slices.ContainsFunc(s.Runs, func(r Run) bool {
		return r.Edits && s.matches(r, r.Role, r.Index) && r.Receipt != nil && r.Receipt.Outcome == outcome.Edited
	})
}

// isDecided reports whether a decision has led into this round or kept it. A person then makes
// no other draft unless the task is resumed for that.
func (s State) isDecided() bool { return s.Last != nil && s.Last.NextRound == s.Round }

// assistant returns the agent that the last decision named, or "" if it has answered. The
// executor is not an assistant, because it makes the next draft anyway.
func (s State) assistant() Role {
	if !s.isDecided() || s.Last.DestinationKind != kindAgent || s.Last.NextAction == string(RoleExecutor) {
		return ""
	}
	role := Role(s.Last.NextAction)
	if role == RoleResearcher && s.Phase == Research {
		return "" // The answers are merged: each decision and each round leaves this phase.
	}
	if run := s.LatestRun(role, 0); role != RoleResearcher && run != nil && run.Receipt.Path != "" {
		return ""
	}
	return role
}
