package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Worktree is the worktree of a task.
type Worktree struct {
	// Path is absolute, and outside of every checkout of the repository.
	Path string
	// Branch is the name of the task's branch, see TaskBranch.
	Branch string
}

// The reasons for the locks of worktrees, which protect them from git worktree prune. Git's
// own reason marks a worktree that it has not completed.
const (
	taskReason  = "in use by a switchyard task"
	mergeReason = "in use by a switchyard merge"
	gitReason   = "initializing"
)

// CheckFree fails if the branch or the path of a worktree that is to be added exists.
//
// # Errors
//
// branch-exists, worktree-exists and worktree-inside.
func (r *Repo) CheckFree(ctx context.Context, w Worktree) error {
	path, known, err := r.prepare(w.Path)
	if err != nil {
		return err
	}
	if known {
		return r.errKnown(path, w.Branch)
	}
	refs := headsPrefix + w.Branch + "\n" + headsPrefix + strings.TrimSuffix(BranchPrefix, "/") + "\n"
	out, err := r.run(ctx, command{place: r.checkout, args: []string{"cat-file", "--batch-check"}, input: refs})
	switch {
	case err != nil:
		return err
	case !strings.HasSuffix(out, " missing\n"):
		return errTaken(w.Branch).WithHint("rename the branch switchyard with git branch -m: below its name git cannot make others")
	case strings.Count(out, " missing\n") < 2:
		return errTaken(w.Branch)
	}
	return nil
}

// AddWorktree creates the branch at base, the hash of a commit, and checks it out in a new
// worktree, locked. If both exist it does not change them, wherever the branch is by now;
// if a killed call or an agent left only a part, it adds the rest. It creates the parent
// directory.
//
// # Errors
//
// branch-exists, branch-checked-out and worktree-exists if another owner has the branch or
// the path, which do not change then; worktree-inside; worktree-switched if HEAD of the
// worktree is not on its branch.
func (r *Repo) AddWorktree(ctx context.Context, w Worktree, base string) error {
	path, _, err := r.prepare(w.Path)
	if err != nil {
		return err
	}
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	there := worktreeAt(all, path)
	if there == nil || there.branch != w.Branch {
		if holder := r.holder(all, w.Branch); holder != "" && holder != path {
			return errHeld(w.Branch, holder)
		}
	}
	mark := "switchyard: created for the worktree " + digest.Of(path)
	if there != nil {
		switch complete, err := r.isComplete(ctx, *there, w.Branch, mark); {
		case err != nil:
			return err
		case complete:
			return r.lock(*there)
		}
		if err := r.discard(ctx, *there); err != nil {
			return err
		}
	}
	if err := r.createBranch(ctx, w.Branch, base, mark); err != nil {
		return err
	}
	if err := r.runAll(ctx, r.checkout, []string{"worktree", "add", "--quiet", "--", path, w.Branch}); err != nil {
		return err
	}
	return r.lock(worktree{path: path})
}

// prepare makes the parent directory of a new worktree and returns the worktree's path as
// git names it, and whether git knows it already. A directory with files that is not a
// worktree belongs to another owner.
func (r *Repo) prepare(path string) (at string, known bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", false, errs.New(errs.FileUnwritable, "the directory of worktrees cannot be made: %w", err).
			WithHint("set XDG_STATE_HOME to a directory that you may write")
	}
	path = canonical(path)
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return "", false, errExists(path, "it is a link or a file")
	}
	for _, p := range append(r.linkedPlaces(), r.mainPlace()) {
		if p.top == path {
			known = true
		} else if below, err := filepath.Rel(p.top, path); err == nil && filepath.IsLocal(below) {
			return "", false, errs.New(errs.WorktreeInside, "a worktree at %s would be inside the checkout %s", path, p.top).With("path", path)
		}
	}
	if !known {
		if entries, err := os.ReadDir(path); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", false, errExists(path, "it is not a worktree of this repository")
		}
	}
	return path, known, nil
}

func errExists(path, why string) error {
	return errs.New(errs.WorktreeExists, "%s is in the way of a worktree: %s", path, why).With("path", path)
}

// errKnown is the error of a new task whose worktree git knows already. If it is locked for a
// task, the ledger with that task was lost, and the files there may be its draft.
func (r *Repo) errKnown(path, branch string) error {
	if p, err := r.place(path); err == nil {
		if reason, _ := gitcmd.ReadLine(filepath.Join(p.git, "locked")); reason == taskReason {
			return errs.New(errs.WorktreeExists, "%s is the worktree of a task that this project's ledger does not have", path).With("path", path).
				WithHint(fmt.Sprintf("put .switchyard back as it was, and the task goes on; to give it up, keep what you need of its files, then run git worktree unlock and git worktree remove --force on that path, and git branch -D %s", branch))
		}
	}
	return errExists(path, "it is another worktree")
}

// isComplete reports whether the worktree has the branch checked out. Otherwise it may be
// discarded: it is empty, or has only files that git checked out before it was killed.
func (r *Repo) isComplete(ctx context.Context, there worktree, branch, mark string) (bool, error) {
	if there.locked && there.reason != taskReason && there.reason != gitReason {
		return false, errExists(there.path, "it is another worktree")
	}
	if there.reason == taskReason && there.branch != branch {
		return false, errSwitched(there.path, branch)
	}
	entries, err := os.ReadDir(there.path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, errExists(there.path, safefile.Reason(err).Error())
	case there.reason == gitReason || len(entries) == 0:
		created, err := r.isMarked(ctx, branch, mark)
		if err == nil && !created {
			err = errExists(there.path, "it is another worktree")
		}
		return false, err
	case there.branch != branch:
		return false, errExists(there.path, "it is another worktree")
	}
	if _, err := os.Lstat(filepath.Join(there.path, ".git")); err != nil {
		return false, errExists(there.path, "it has files and no longer a .git")
	}
	return true, nil
}

func errSwitched(path, branch string) error {
	return errs.New(errs.WorktreeSwitched, "the worktree %s is no longer on its branch %s", path, branch).With("path", path).With("branch", branch)
}

// createBranch creates the branch at base, unless it was created for the same worktree
// before, according to the first entry of its reflog.
func (r *Repo) createBranch(ctx context.Context, branch, base, mark string) error {
	err := r.move(ctx, r.checkout, branch, base, "", mark)
	if failureOf(err) == nil || errs.CodeOf(err) == errs.GitLocked {
		return err
	}
	created, createdErr := r.isMarked(ctx, branch, mark)
	switch f := failureOf(err); {
	case createdErr != nil:
		return createdErr
	case created:
		return nil
	case errs.CodeOf(err) == errs.BranchMoved, strings.Contains(f.stderr, "cannot create"):
		return errTaken(branch)
	}
	return err
}

func errTaken(branch string) *errs.Error {
	return errs.New(errs.BranchExists, "there is a branch in the way of %s that was not created for this task", branch).With("branch", branch)
}

// isMarked reports whether the branch exists and was created with the mark.
func (r *Repo) isMarked(ctx context.Context, branch, mark string) (bool, error) {
	if tip, err := r.tip(ctx, branch); err != nil || tip == "" {
		return false, err
	}
	log, err := r.output(ctx, r.checkout, "log", "--walk-reflogs", "--no-show-signature", "--format=%gs", headsPrefix+branch, "--")
	return log[strings.LastIndexByte(log, '\n')+1:] == mark, err
}

// addDetached makes git create a worktree with a commit at a detached HEAD, locked for a
// reason.
func (r *Repo) addDetached(ctx context.Context, path, commit, reason string) error {
	return r.runAll(ctx, r.checkout, []string{"worktree", "add", "--quiet", "--detach", "--lock", "--reason", reason, "--", path, commit})
}

// lock locks the worktree of a task, unless it is locked. It writes git's own file, because
// git does not write it atomically.
func (r *Repo) lock(w worktree) error {
	if w.locked {
		return nil
	}
	p, err := r.place(w.path)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(p.git)
	if err != nil {
		return unwritable(err)
	}
	defer dir.Close()
	err = safefile.ReplaceWith(dir, "locked", strings.NewReader(taskReason), safefile.Options{Mode: 0o666, NoSync: true, Temp: "locked.new"})
	if err != nil {
		return unwritable(err)
	}
	return nil
}

// discard removes a worktree with its files.
func (r *Repo) discard(ctx context.Context, w worktree) error {
	if err := removeAll(w.path); err != nil {
		return err
	}
	return r.unregister(ctx, w)
}

// removeAll removes a directory, also if it has read-only directories. It need not exist.
func removeAll(path string) error {
	if err := safefile.RemovePath(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errs.New(errs.FileUnwritable, "the directory %s cannot be removed: %w", textutil.Line(path), err)
	}
	return nil
}

// unregister makes git remove a worktree. Git refuses this if changed or untracked files
// would be lost.
func (r *Repo) unregister(ctx context.Context, w worktree) error {
	if w.locked {
		if _, err := r.output(ctx, r.checkout, "worktree", "unlock", w.path); err != nil {
			return err
		}
	}
	return r.runAll(ctx, r.checkout, []string{"worktree", "remove", w.path})
}
