package round

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// reviewedTree stores the draft of a task with its own branch as a git tree, to be
// committed. The draft must still be the one that was verified and reviewed.
func (rr *roundRunner) reviewedTree(ctx context.Context) (string, error) {
	if rr.unwritten != nil {
		return "", rr.unwritten
	}
	reviewed := rr.judged
	if run := rr.tx.Status.LatestRun(task.RoleCritic, 0); run != nil && rr.critic {
		reviewed = run.Tree
	}
	repo, err := rr.tx.Project.Repository(ctx)
	if err != nil {
		return "", err
	}
	// The tree of the critic's diff is still right, unless the files or their times changed since.
	if rr.written == "" || rr.checkWritten(ctx, repo) != nil {
		if err := rr.writeTree(ctx, repo); err != nil {
			return "", err
		}
		if err := rr.checkWritten(ctx, repo); err != nil {
			return "", err
		}
	}
	if reviewed != "" && rr.shot.Digest() != reviewed || rr.judged != "" && reviewed != rr.judged {
		return "", rr.errTreeChanged("after the review")
	}
	return rr.written, nil
}

// writeTree stores the draft of a task with its own branch as a git tree.
func (rr *roundRunner) writeTree(ctx context.Context, repo *gitrepo.Repo) (err error) {
	rr.writtenOf = ""
	if rr.shot != nil {
		rr.writtenOf = rr.shot.Digest()
	}
	rr.written, err = repo.WriteTree(ctx, rr.tx.Tree())
	return err
}

// checkWritten fails if the stored tree must not be committed, or is no longer that of the files.
func (rr *roundRunner) checkWritten(ctx context.Context, repo *gitrepo.Repo) error {
	before := rr.writtenOf
	rr.shot = nil // A snapshot must show what git has stored.
	now, err := rr.snapshot(ctx)
	if err != nil {
		return err
	}
	changed, err := repo.Changed(ctx, rr.tx.Status.Branch.Base, rr.written)
	if err != nil {
		return err
	}
	if err := rr.checkProtected(changed); err != nil {
		return err
	}
	if before != "" && now.Digest() != before {
		return rr.errTreeChanged("during the commit")
	}
	return rr.checkStored(ctx, repo, changed)
}

// errTreeChanged is the error of a round whose evidence is about different trees.
func (rr *roundRunner) errTreeChanged(when string) *errs.Error {
	return errs.New(errs.RoundShifted, "the working tree changed %s of round %d", when, rr.round.Number).
		With("expected", rr.round.Number).With("actual", rr.tx.Status.Round)
}

// checkProtected fails if a draft of agents changes files that affect later rounds. A run
// that changes them is rejected, but its files are still there when the task is resumed.
func (rr *roundRunner) checkProtected(changed []string) error {
	if rr.tx.Status.Manual {
		return nil
	}
	protected := slices.DeleteFunc(slices.Clone(changed), func(path string) bool { return !rr.shot.Decides(path) })
	if len(protected) == 0 {
		return nil
	}
	return errs.New(errs.DraftProtected, "the draft changes files that affect later rounds: %s", textutil.List(protected, MaxNamedChanges)).
		With("paths", protected)
}

// checkStored fails if git stored other files than the snapshot has, which was taken after
// that. A process that outlived its agent could show git another content for an instant.
func (rr *roundRunner) checkStored(ctx context.Context, repo *gitrepo.Repo, changed []string) error {
	stored, err := repo.StoredFiles(ctx, rr.tx.Tree())
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(stored))
	for _, f := range stored {
		names[f.Path] = true
		if exists, same := rr.shot.Lookup(f.Path, f.Changed, f.Inode); exists && !same {
			return rr.errTreeChanged("during the commit").With("path", f.Path)
		}
	}
	for _, name := range changed {
		if exists, _ := rr.shot.Lookup(name, 0, 0); exists != names[name] {
			return rr.errTreeChanged("during the commit").With("path", name)
		}
	}
	return nil
}
