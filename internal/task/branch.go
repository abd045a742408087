package task

import (
	"cmp"
	"fmt"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Branch is the branch, with its git worktree, in which `run` does the work of a task.
type Branch struct {
	// Name is the short name of the branch.
	Name string `json:"name"`
	// Worktree is the absolute path of the worktree.
	Worktree string `json:"worktree"`
	// Base is the commit that the branch starts from.
	Base string `json:"base"`
	// Onto is the branch that Base was taken from and that the work is merged into, "" if
	// Base was not taken from a branch.
	Onto string `json:"onto,omitzero"`
	// Tip is the last commit that the host made on it, or "".
	Tip string `json:"tip,omitzero"`
	// Created is set once branch and worktree exist.
	Created bool `json:"created,omitzero"`
}

// Head returns the commit that the branch is at. Only the host moves it.
func (b Branch) Head() string { return cmp.Or(b.Tip, b.Base) }

// GitCommit is the commit that the host made for a decision to commit.
type GitCommit struct {
	SHA string `json:"sha"`
	// Tree is the git tree that was verified and reviewed.
	Tree string `json:"tree"`
	// Decision is the hash of the decision's event.
	Decision string `json:"decision"`
}

// Merge is an attempt to merge a committed task into a branch.
type Merge struct {
	// Into is the short name of the branch.
	Into string `json:"into"`
	// Outcome is "" while the merge has not ended.
	Outcome MergeOutcome `json:"outcome,omitzero"`
	// Commit is the commit that the branch was moved to, "" if it was not moved.
	Commit string `json:"commit,omitzero"`
	// Verified is set if the merged files have passed a verification.
	Verified bool `json:"verified,omitzero"`
}

// MergeOutcome is how a merge ended.
type MergeOutcome string

// The outcomes. A merge that is not Merged leaves the task stuck, and its outcome is the
// reason.
const (
	Merged        MergeOutcome = "merged"
	MergeConflict MergeOutcome = "merge-conflict"
	MergeRed      MergeOutcome = "merge-red" // The merged tree does not pass the verification.
)

// BranchCreated records that a task's branch and worktree exist.
type BranchCreated struct{}

// CommitCreated records the commit for the latest decision.
type CommitCreated struct {
	Round  int       `json:"round"`
	Commit GitCommit `json:"commit"`
}

// MergeBegun announces a merge.
type MergeBegun struct {
	Into string `json:"into"`
}

// MergeEnded records how a merge ended.
type MergeEnded struct {
	Outcome  MergeOutcome `json:"outcome"`
	Commit   string       `json:"commit,omitzero"`
	Verified bool         `json:"verified,omitzero"`
}

// CreateBranch records that the branch and the worktree exist.
type CreateBranch struct{}

func (CreateBranch) decide(s State) (Event, error) {
	if s.Branch == nil {
		return nil, ErrNoBranch()
	}
	if s.Branch.Created {
		return nil, nil
	}
	return BranchCreated{}, nil
}

// ErrNoBranch returns the error of a step that needs a task's own branch.
func ErrNoBranch() error {
	return errs.New(errs.TaskNoBranch, "the task is worked on in the checkout and has no branch of its own")
}

func (BranchCreated) apply(s State) (State, error) {
	if s.Branch == nil {
		return s, fmt.Errorf("a branch is created for a task that has none")
	}
	created := *s.Branch
	created.Created = true
	s.Branch = &created
	return s, nil
}

// RecordCommit records the commit for the decision to commit.
type RecordCommit struct{ GitCommit }

func (c RecordCommit) decide(s State) (Event, error) {
	if s.Branch == nil {
		return nil, ErrNoBranch()
	}
	if s.Commit != nil && *s.Commit == c.GitCommit {
		return nil, nil
	}
	if err := s.checkCommit(c.GitCommit); err != nil {
		return nil, err
	}
	return CommitCreated{Round: s.Round, Commit: c.GitCommit}, nil
}

// checkCommit rejects a second commit, and a commit of a tree that was not decided.
func (s State) checkCommit(c GitCommit) error {
	if s.Branch == nil || s.Commit != nil || c.SHA == "" || c.Tree == "" || c.Tree != s.decidedTree() {
		return fmt.Errorf("commit %q of tree %q follows a decision about tree %q", c.SHA, c.Tree, s.decidedTree())
	}
	return nil
}

// decidedTree returns the tree of this round's decision to commit, or "": a person can
// commit a task without a decision.
func (s State) decidedTree() string {
	if s.Last == nil || s.Last.Round != s.Round || s.Last.NextAction != actionCommit {
		return ""
	}
	return s.Last.Tree
}

func (e CommitCreated) round() int { return e.Round }

func (e CommitCreated) apply(s State) (State, error) {
	if err := s.checkCommit(e.Commit); err != nil {
		return s, err
	}
	on := *s.Branch
	on.Tip = e.Commit.SHA
	s.Branch, s.Commit = &on, &e.Commit
	return s, nil
}

// BeginMerge announces that a committed task is merged into a branch. It may follow a
// merge that failed.
type BeginMerge struct{ Into string }

func (c BeginMerge) decide(s State) (Event, error) {
	switch {
	case s.Status == Stuck && !s.MergeFailed():
		return nil, checkAllowed(s, KindDecided)
	case s.Commit == nil:
		return nil, ErrNoBranch()
	}
	return MergeBegun(c), nil
}

// MergeFailed reports whether the task is stuck because its merge failed.
func (s State) MergeFailed() bool {
	return s.Status == Stuck && s.Commit != nil && s.Merge != nil && s.Merge.Outcome != Merged && s.Stop.Reason == string(s.Merge.Outcome)
}

func (e MergeBegun) apply(s State) (State, error) {
	if s.Commit == nil || s.Status == Stuck && !s.MergeFailed() {
		return s, fmt.Errorf("a merge begins in a task that is %s", s.Status)
	}
	s.Status, s.Stop, s.Merge = Merging, nil, &Merge{Into: e.Into}
	return s, nil
}

// EndMerge records how a merge ended. Like the commit of a task that was ever verified, its
// merge needs a green verification.
type EndMerge struct{ MergeEnded }

func (c EndMerge) decide(s State) (Event, error) {
	if c.Outcome == Merged && !c.Verified && s.Verifies {
		return nil, errs.New(errs.CommitUnverified, "nothing has verified the merged files, and the task was verified").
			WithHint("switchyard run TASK --merge --verify-cmd CMD verifies them")
	}
	return c.MergeEnded, nil
}

func (e MergeEnded) apply(s State) (State, error) {
	ended := *s.Merge
	ended.Outcome, ended.Commit, ended.Verified = e.Outcome, e.Commit, e.Verified
	s.Merge, s.Status = &ended, Committed
	switch e.Outcome {
	case Merged:
	case MergeConflict, MergeRed:
		s.Status = Stuck
		s.Stop = &Stop{Round: s.Round, Reason: string(e.Outcome), By: BySwitchyard}
	default:
		return s, fmt.Errorf("a merge ends with the outcome %q", e.Outcome)
	}
	return s, nil
}
