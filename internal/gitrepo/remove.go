package gitrepo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// RemoveWorktree removes a task's worktree and its branch, if all files are committed and
// the commit into has all commits. Files that git ignores are lost. It is not an error if
// the worktree or the branch is missing. A call that is killed leaves the whole worktree or
// none; the next call removes the files that it left beside it.
//
// # Errors
//
// worktree-dirty, branch-unmerged, worktree-switched, worktree-exists if the path belongs to
// another owner, branch-checked-out, branch-moved, revision-unknown, and the errors of
// WriteTree.
func (r *Repo) RemoveWorktree(ctx context.Context, w Worktree, into string) error {
	path := canonical(w.Path)
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	there := worktreeAt(all, path)
	tip, err := r.tip(ctx, w.Branch)
	if err != nil {
		return err
	}
	if tip != "" {
		target, _, err := r.Resolve(ctx, into)
		if err != nil {
			return err
		}
		if merged, err := r.IsAncestor(ctx, tip, target); err != nil {
			return err
		} else if !merged {
			return errs.New(errs.BranchUnmerged, "the branch %s has commits that %s does not have", w.Branch, into).With("branch", w.Branch)
		}
	}
	switch {
	case there == nil && exists(path):
		return errExists(path, "it is not a worktree of this repository")
	case there == nil:
	case there.locked && there.reason != taskReason:
		return errExists(path, "it is another worktree")
	case exists(path):
		if err := r.removeClean(ctx, *there, w.Branch); err != nil {
			return err
		}
	default:
		if err := r.unregister(ctx, *there); err != nil {
			return err
		}
	}
	if tip != "" {
		if all, err = r.worktrees(ctx); err != nil {
			return err
		}
		if holder := r.holder(all, w.Branch); holder != "" {
			return errHeld(w.Branch, holder)
		}
		if err := r.move(ctx, r.checkout, w.Branch, "", tip, "switchyard: merged"); err != nil {
			return err
		}
	}
	return removeAll(removedPath(path))
}

// removedPath is the path to which a worktree is moved before its files are removed. The
// names of tasks cannot begin with a dot.
func removedPath(path string) string {
	return filepath.Join(filepath.Dir(path), ".removed-"+filepath.Base(path))
}

// removeClean moves a worktree to its removedPath and unregisters it, if it is on the branch
// and has no changes. It does not ask git, which does not see files that flags of the index
// hide, takes a file for changed that it would convert, and does not remove a worktree with
// submodules.
func (r *Repo) removeClean(ctx context.Context, there worktree, branch string) error {
	if there.branch != branch {
		return errSwitched(there.path, branch)
	}
	tree, err := r.WriteTree(ctx, there.path)
	if err != nil {
		return err
	}
	committed, err := r.ReadCommit(ctx, headsPrefix+branch)
	if err != nil {
		return err
	}
	if tree != committed.Tree {
		return errDirty(there.path, "")
	}
	p, err := r.place(there.path)
	if err != nil {
		return err
	}
	if !isEmpty(filepath.Join(p.top, ".git")) { // In a worktree it is a file.
		return errDirty(there.path, ": its .git is another repository")
	}
	_, submodules, err := listEntries(func(_ string, args ...string) (string, error) { return r.output(ctx, p, args...) })
	if err != nil {
		return err
	}
	for _, name := range submodules {
		if !isEmpty(filepath.Join(p.top, filepath.FromSlash(name))) {
			return errDirty(there.path, ": the submodule "+textutil.Line(name)+" is checked out")
		}
	}
	if _, err := r.output(ctx, p, "diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD", "--"); isNegative(err) {
		return errDirty(there.path, ": changes are staged")
	} else if err != nil {
		return err
	}
	// The part that a killed removal leaves would look like a draft that deletes the rest.
	removed := removedPath(there.path)
	if err := removeAll(removed); err != nil {
		return err
	}
	if err := os.Rename(there.path, removed); err != nil {
		return errs.New(errs.FileUnwritable, "the worktree cannot be moved: %w", err).
			WithHint("close the programs that use it, then run the task again")
	}
	return r.unregister(ctx, there)
}

func errDirty(path, why string) *errs.Error {
	return errs.New(errs.WorktreeDirty, "the worktree %s has changes that are not committed%s", textutil.Line(path), why).With("path", path)
}
