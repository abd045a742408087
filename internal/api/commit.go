package api

import "github.com/switchyard-dev/switchyard/internal/task"

// CommitEvidence compares a commit with the decision that its trailers name.
type CommitEvidence struct {
	// SHA is the commit and Tree its git tree.
	SHA  string `json:"sha"`
	Tree string `json:"tree"`
	// Branch is the task's branch, or "".
	Branch string `json:"branch,omitzero"`
	// ReviewedTree is the tree that was verified, reviewed and decided on, or "" if the
	// decision is not about a tree.
	ReviewedTree string `json:"reviewed_tree,omitzero"`
	// Recorded is the commit that run made for the decision, or "". After a rebase it is
	// not SHA.
	Recorded string `json:"recorded,omitzero"`
	// Merge is set if the commit merges Recorded into another branch. The merged tree was not
	// reviewed.
	Merge *task.Merge `json:"merge,omitzero"`
	// Deferred names the findings that the decision defers, as in the trailers of Recorded.
	Deferred []string `json:"deferred,omitzero"`
	// Matches reports whether the decision was to commit this tree, or whether the commit
	// is that merge. Problem says why not.
	Matches bool   `json:"matches"`
	Problem string `json:"problem,omitzero"`
}
