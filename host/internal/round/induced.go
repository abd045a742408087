package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/linediff"
)

// reviewedDraft is a draft as a review saw it. What is not known is zero: without git, if
// reports were given by hand, or if git cannot store or compare drafts.
type reviewedDraft struct {
	// Tree is the draft's git tree.
	Tree string
	// Changes are those since the draft of the task's previous review, in the files of the
	// findings.
	Changes linediff.Changes `json:",omitzero"`
}

// compareDraft stores the draft and compares it with that of the previous review.
func (rr *roundRunner) compareDraft(ctx context.Context, evidence []pluginset.Report) (d reviewedDraft) {
	tree := rr.agents.workingTree()
	tree.Cache, tree.Now = &rr.tx.engine.trees, rr.shot
	base, err := rr.tx.base(ctx)
	if err != nil {
		return d
	}
	var changes linediff.Changes
	if d.Tree, changes, err = tree.Draft(ctx, base, rr.tx.Status.Draft); err != nil || changes == nil {
		return d
	}
	d.Changes = make(linediff.Changes)
	for _, f := range found(evidence) {
		if f.File != nil && changes[*f.File] != nil {
			d.Changes[*f.File] = changes[*f.File]
		}
	}
	return d
}

// markInduced sets which findings are in changed lines, and counts them. It returns nil if
// the changes are not known.
func markInduced(findings []finding.Finding, changes linediff.Changes) *int {
	if changes == nil {
		return nil
	}
	count := 0
	for i := range findings {
		f := &findings[i]
		f.Induced = new(f.File != nil && f.Line != nil && changes.Has(*f.File, *f.Line))
		if *f.Induced {
			count++
		}
	}
	return &count
}
