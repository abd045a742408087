package gitrepo

import (
	"cmp"
	"context"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// MergeRequest is the request for a merge.
type MergeRequest struct {
	// Base is the name of the branch to merge into, and Tip the commit to merge.
	Base, Tip string
	// Path is the path of a worktree for the merge, with the rules of Worktree.Path. Files
	// that an earlier merge or verification left there are discarded.
	Path string
	// Message and Trailers are for the commit of the merge, as in CommitRequest.
	Message  string
	Trailers []Trailer
}

// MergeResult is the result of a merge.
type MergeResult struct {
	// Base is the commit that the base branch was at.
	Base string
	// Commit is the merged commit, checked out in the worktree. It is the tip if that is a
	// descendant of Base. It is "" if there are conflicts.
	Commit string
	// Has is set if the branch has the tip already. Then Commit is Base if Base is exactly
	// the merge of the tip, and otherwise the tip, because Base has commits of others.
	Has bool
	// Conflicts are the files that cannot be merged.
	Conflicts []string
}

// Merge merges a commit into the base branch and checks the result out at a detached HEAD
// in a separate worktree. It does not move the branch: see Advance. If there are conflicts,
// the worktree has the base.
//
// # Errors
//
// merge-no-branch if the branch does not exist, worktree-exists, worktree-inside,
// author-unknown and signing-failed.
func (r *Repo) Merge(ctx context.Context, m MergeRequest) (MergeResult, error) {
	base, err := r.tip(ctx, m.Base)
	if err != nil {
		return MergeResult{}, err
	}
	if base == "" {
		return MergeResult{}, errs.New(errs.MergeNoBranch, "there is no branch %.200q to merge into", m.Base)
	}
	if err := r.checkOutDetached(ctx, m.Path, base); err != nil {
		return MergeResult{}, err
	}
	p, err := r.place(m.Path)
	if err != nil {
		return MergeResult{}, err
	}
	result := MergeResult{Base: base}
	if err = r.mergeInto(ctx, p, m, &result); err == nil && result.Commit != "" {
		err = r.runAll(ctx, p, []string{"checkout", "--quiet", "--detach", result.Commit, "--"})
	}
	return result, err
}

// checkOutDetached removes and creates the worktree of a merge, with a commit at a detached
// HEAD.
func (r *Repo) checkOutDetached(ctx context.Context, path, commit string) error {
	if err := r.RemoveMerge(ctx, path); err != nil {
		return err
	}
	if _, _, err := r.prepare(path); err != nil {
		return err
	}
	return r.addDetached(ctx, canonical(path), commit, mergeReason)
}

// TryWorktree checks HEAD out in a worktree and removes it again, also after an error or if
// ctx ends. It first removes the worktree of a killed call.
//
// # Errors
//
// worktree-exists and worktree-inside.
func (r *Repo) TryWorktree(ctx context.Context, path string) error {
	err := r.checkOutDetached(ctx, path, "HEAD")
	return cmp.Or(err, r.RemoveMerge(context.WithoutCancel(ctx), path))
}

// mergeInto sets the merged commit or the conflicts of a merge into result.Base.
func (r *Repo) mergeInto(ctx context.Context, p place, m MergeRequest, result *MergeResult) (err error) {
	base := result.Base
	if result.Has, err = r.IsAncestor(ctx, m.Tip, base); err != nil {
		return err
	}
	if result.Has {
		result.Commit = m.Tip
		head, err := r.ReadCommit(ctx, base)
		if err != nil || len(head.Parents) != 2 || head.Parents[1] != m.Tip {
			return err
		}
		tree, _, err := r.mergeTrees(ctx, p, head.Parents[0], m.Tip)
		if err == nil && tree == head.Tree {
			result.Commit = base
		}
		return err
	}
	if follows, err := r.IsAncestor(ctx, base, m.Tip); err != nil || follows {
		result.Commit = m.Tip
		return err
	}
	tree, conflicts, err := r.mergeTrees(ctx, p, base, m.Tip)
	if err != nil || tree == "" {
		result.Conflicts = conflicts
		return err
	}
	result.Commit, err = r.CreateCommit(ctx, tree, []string{base, m.Tip}, m.Message, m.Trailers)
	return err
}

// mergeTrees returns the tree of the merge of two commits, or the conflicts. It runs in the
// worktree, because the attributes there name merge drivers.
func (r *Repo) mergeTrees(ctx context.Context, p place, base, tip string) (tree string, conflicts []string, err error) {
	out, err := r.run(ctx, command{place: p, limit: slow, args: []string{
		"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, tip,
	}})
	found := records(out)
	if isNegative(err) && len(found) > 1 {
		return "", found[1:], nil
	}
	if err != nil {
		return "", nil, err
	}
	return found[0], nil, nil
}

// IsAncestor reports whether the commit of is reachable from to.
func (r *Repo) IsAncestor(ctx context.Context, of, to string) (bool, error) {
	_, err := r.output(ctx, r.checkout, "merge-base", "--is-ancestor", of, to)
	if isNegative(err) {
		return false, nil
	}
	return err == nil, err
}

// Advance moves the base branch from the commit old to next, after a merge was verified.
// If the checkout that the repository was opened for has the branch checked out, its files
// follow, as by git merge --ff-only.
//
// # Errors
//
// branch-checked-out if that checkout has changes in tracked files, or if another worktree,
// which would then not have the files of its HEAD, has the branch checked out;
// git-object-invalid; and branch-moved. The branch has not moved then, unless another process
// moved it.
func (r *Repo) Advance(ctx context.Context, branch, next, old string) error {
	changes, err := r.diffTrees(ctx, r.checkout, old, next)
	if err == nil {
		err = r.checkObjects(ctx, r.checkout, old, next, changes)
	}
	if err != nil {
		return err
	}
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	switch holder := r.holder(all, branch); holder {
	case "":
		return r.move(ctx, r.checkout, branch, next, old, "switchyard: merge")
	case canonical(r.checkout.top):
		return r.forward(ctx, branch, next, old)
	default:
		return errHeld(branch, holder).WithHint("check out another branch there, then run the task again with --merge")
	}
}

// forward moves the branch of the checkout together with its files.
func (r *Repo) forward(ctx context.Context, branch, next, old string) error {
	// In the middle of a rebase HEAD is not on the branch.
	tip, _, err := r.head(ctx, r.checkout, branch)
	switch {
	case errs.CodeOf(err) == errs.WorktreeSwitched:
		return errHeld(branch, r.checkout.top).WithHint("finish the rebase there, then run the task again with --merge")
	case err != nil:
		return err
	case tip != old:
		return errMoved(branch, tip, old)
	}
	changed, err := r.output(ctx, r.checkout, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	if changed != "" {
		return errHeld(branch, r.checkout.top).WithHint("commit or stash what you changed there, or check out another branch, then run the task again with --merge; after a merge that was killed, take back the files that do not differ from the task's branch")
	}
	// Git refuses to overwrite an untracked file, and with the option also an ignored one.
	args := []string{"merge", "--ff-only", "--quiet", "--no-overwrite-ignore", "--no-autostash", next}
	// Options in the branch's settings, such as --squash, could keep the branch where it is.
	env := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=branch." + branch + ".mergeOptions", "GIT_CONFIG_VALUE_0="}
	// A git that is ended here leaves the checkout with some of the files of next, at the old
	// commit.
	ctx = context.WithoutCancel(ctx)
	if _, err := r.run(ctx, command{place: r.checkout, args: args, env: env, limit: slow}); err != nil {
		return err
	}
	if tip, err = r.tip(ctx, branch); err == nil && tip != next {
		err = errMoved(branch, tip, next)
	}
	return err
}

// RemoveMerge removes the worktree of a merge, with files that a verification left in it. A
// missing worktree is not an error.
//
// # Errors
//
// worktree-exists if the path belongs to another owner, worktree-inside.
func (r *Repo) RemoveMerge(ctx context.Context, path string) error {
	path, known, err := r.prepare(path)
	if err != nil || !known {
		return err
	}
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	there := worktreeAt(all, path)
	if there == nil {
		return nil
	}
	if there.reason != mergeReason && (there.locked || exists(path)) { // A killed removal has unlocked it.
		return errExists(path, "it is another worktree")
	}
	return r.discard(ctx, *there)
}
