package gitrepo

import (
	"context"
	"strings"
)

// Top returns the path of the checkout that the repository was opened for.
func (r *Repo) Top() string { return r.checkout.top }

// BranchOf returns the short name of the branch that a revision names, HEAD included, or
// "" if it names no branch.
//
// # Errors
//
// git-failed and those of the supervisor.
func (r *Repo) BranchOf(ctx context.Context, rev string) (string, error) {
	ref, err := r.output(ctx, r.checkout, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", rev)
	if failureOf(err) != nil {
		return "", nil
	}
	name, ok := strings.CutPrefix(ref, headsPrefix)
	if !ok {
		name = ""
	}
	return name, err
}

// Tip returns the commit that a worktree's branch is at.
//
// # Errors
//
// worktree-missing, worktree-switched if HEAD of the worktree is elsewhere, git-failed
// and those of the supervisor.
func (r *Repo) Tip(ctx context.Context, w Worktree) (string, error) {
	p, err := r.place(w.Path)
	if err == nil {
		err = r.onBranch(ctx, p, w.Branch)
	}
	if err != nil {
		return "", err
	}
	return r.tip(ctx, w.Branch)
}

// Subject returns the first line of a commit's message, or "" if the commit is gone.
func (r *Repo) Subject(ctx context.Context, commit string) string {
	subject, err := r.output(ctx, r.checkout, "rev-list", "--max-count=1", "--no-commit-header", "--format=%s", "--end-of-options", commit)
	if err != nil {
		return ""
	}
	return subject
}

// Changed lists the files that differ between two commits or trees.
//
// # Errors
//
// git-failed and those of the supervisor.
func (r *Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.run(ctx, command{place: r.checkout, limit: slow, args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to}})
	return records(out), err
}
