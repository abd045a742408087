package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/host/internal/round"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/host/internal/verification"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
	"github.com/switchyard-dev/switchyard/policies"
)

// finish pushes and merges a committed task if the caller wants it, and reports whether the
// run is over.
func (w *work) finish(ctx context.Context) (over bool, err error) {
	if w.tx.Status.Commit == nil {
		return true, nil // A person has committed it.
	}
	if repo, err := w.project.Repository(ctx); err == nil && w.subject == "" {
		commit, _ := repo.ReadCommit(ctx, w.tx.Status.Commit.SHA) // It may be gone.
		w.subject = commit.Subject
	}
	if w.req.Push != "" && !w.pushed {
		if err := w.push(ctx); err != nil {
			return true, err
		}
	}
	switch {
	case w.tx.Status.Merge != nil:
		return true, w.removeWorktree(ctx)
	case w.req.Merge:
		return false, w.merge(ctx)
	}
	return true, nil
}

// removeWorktree removes the worktree and the branch of a merged task, also if an earlier run
// was stopped before it had removed them.
func (w *work) removeWorktree(ctx context.Context) error {
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	err = repo.RemoveWorktree(ctx, worktreeOf(b), w.tx.Status.Merge.Commit)
	if err != nil && ctx.Err() == nil {
		w.notice("the worktree %s is not removed, or not completely: %s", b.Worktree, err)
		err = nil
	}
	return err
}

// push pushes the task's branch. A merge removes the branch, so it comes before one.
func (w *work) push(ctx context.Context) error {
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	if w.tx.Status.Merge != nil {
		if _, _, err := repo.Resolve(ctx, "refs/heads/"+b.Name); errs.CodeOf(err) == errs.RevisionUnknown {
			w.notice("branch %s is not pushed: it was merged into %s and removed", b.Name, w.tx.Status.Merge.Into)
			return nil
		}
	}
	record, held, err := w.holdHooks(ctx)
	if err != nil {
		return err
	}
	defer w.project.Release(held)
	if err := repo.Push(ctx, w.req.Push, b.Name, record); err != nil {
		return err
	}
	w.pushed = true
	w.emit(api.RunEvent{Event: api.RunPushed, Round: w.tx.Status.Round, Branch: b, Message: w.req.Push})
	return nil
}

// mergeLock is the lease of merges: they run one after the other, since each is verified
// together with the ones before.
const mergeLock = "merge"

// merge brings the commit of a task onto the branch that it started from. The merged tree
// is verified before the branch moves. A merge that was killed begins anew; one that had
// moved the branch finds its commit there.
func (w *work) merge(ctx context.Context) error {
	w.triedMerge = true
	pool, err := w.project.Leases()
	if err != nil {
		return err
	}
	held, err := pool.Take(ctx, mergeLock, 1, lease.Forever)
	if err != nil {
		return err
	}
	defer w.project.Release(held)
	if err := w.tx.Begin(ctx); err != nil { // A person may have stopped the task meanwhile.
		return err
	}
	repo, err := w.project.Repository(ctx)
	if err != nil {
		return err
	}
	b := w.tx.Status.Branch
	if b.Onto == "" {
		return w.errNoBranchToMerge()
	}
	if err := w.checkOnto(ctx, repo); err != nil {
		return err // Before the merge begins: a task that is being merged can only be stopped.
	}
	if w.tx.Status.Status != task.Merging {
		if _, err := w.tx.Update(ctx, func(*tasktx.Tx) (task.Command, event.Full, error) {
			return task.BeginMerge{Into: b.Onto}, event.Full{}, nil
		}); err != nil {
			return err
		}
	}
	ended, err := w.mergeOnto(ctx, repo, b)
	if err != nil {
		return w.tx.WithTaskID(err)
	}
	if err := w.tx.Record(ctx, task.EndMerge{MergeEnded: ended}); err != nil {
		return err
	}
	w.emit(api.RunEvent{Event: api.RunMerged, Round: w.tx.Status.Round, Merge: w.tx.Status.Merge})
	return nil
}

// checkOnto fails unless the branch to merge into exists.
func (w *work) checkOnto(ctx context.Context, repo *gitrepo.Repo) error {
	b := w.tx.Status.Branch
	_, _, err := repo.Resolve(ctx, "refs/heads/"+b.Onto)
	if errs.CodeOf(err) != errs.RevisionUnknown {
		return err
	}
	return errs.New(errs.MergeNoBranch, "branch %s, which task %s started from and is merged into, is gone", b.Onto, w.id).With("task", w.id).
		WithHint(fmt.Sprintf("bring it back with git branch %s %.12s, then run the task again with --merge; or merge %s by hand", b.Onto, b.Base, b.Name))
}

// mergeFolder is the worktree of merges. The names of tasks cannot begin with a dot.
const mergeFolder = ".merge"

// mergeOnto merges and verifies in a separate worktree.
func (w *work) mergeOnto(ctx context.Context, repo *gitrepo.Repo, b *task.Branch) (task.MergeEnded, error) {
	dir, err := w.project.WorktreesFolder()
	if err != nil {
		return task.MergeEnded{}, err
	}
	at := filepath.Join(dir, mergeFolder)
	decision := w.tx.Status.Commit.Decision
	m, err := repo.Merge(ctx, gitrepo.MergeRequest{
		Base: b.Onto, Tip: w.tx.Status.Commit.SHA, Path: at, Message: fmt.Sprintf("Merge task %s", w.id),
		Trailers: []gitrepo.Trailer{{Key: gate.TaskTrailer, Value: w.id}, {Key: gitrepo.DecisionTrailer, Value: decision}},
	})
	if err != nil {
		return task.MergeEnded{}, err
	}
	defer func() {
		if err := repo.RemoveMerge(context.WithoutCancel(ctx), at); err != nil {
			w.project.Warn(err) // The next merge removes it.
		}
	}()
	forwards := m.Commit == w.tx.Status.Commit.SHA // to the files that the round has verified
	ended := task.MergeEnded{Outcome: task.Merged, Commit: m.Commit, Verified: forwards && w.tx.Status.Last.Verify == string(policies.Green)}
	switch {
	case len(m.Conflicts) > 0:
		w.notice("%s and %s change the same lines of %s", b.Name, b.Onto, textutil.List(m.Conflicts, round.MaxNamedChanges))
		return task.MergeEnded{Outcome: task.MergeConflict}, nil
	case m.Has && forwards:
		return ended, nil
	}
	v, err := verification.RunIn(ctx, w.tx, w.config, w.req.Verify, at)
	switch {
	case err != nil:
		return task.MergeEnded{}, err
	case v.Outcome == policies.Red:
		w.notice("the merge of %s and %s does not pass the verification; its output is in %s", b.Name, b.Onto, v.Output)
		return task.MergeEnded{Outcome: task.MergeRed}, nil
	case v.Outcome == policies.Green:
		ended.Verified = true
	}
	if !m.Has {
		if err := w.checkMerging(ctx, ended); err != nil {
			return task.MergeEnded{}, err
		}
		err := repo.Advance(ctx, b.Onto, m.Commit, m.Base)
		if e, ok := errors.AsType[*errs.Error](err); ok && e.Code == errs.BranchMoved {
			return task.MergeEnded{}, e.WithHint("run the task again with --merge, which merges into the branch as it is then")
		}
		if err != nil {
			return task.MergeEnded{}, err
		}
	}
	return ended, nil
}

// checkMerging fails if a person has stopped the merge meanwhile, or if nothing has verified the
// merged files of a task that was verified.
func (w *work) checkMerging(ctx context.Context, ended task.MergeEnded) error {
	if err := w.tx.Begin(ctx); err != nil {
		return err
	}
	_, err := task.Decide(w.tx.Status.State, task.EndMerge{MergeEnded: ended})
	return err
}
