package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// BranchPrefix begins the names of tasks' branches, headsPrefix the names of the refs of all
// branches, and remotesPrefix those of the branches that were fetched.
const BranchPrefix, headsPrefix, remotesPrefix = "switchyard/", "refs/heads/", "refs/remotes/"

// TaskBranch returns the name of a task's branch, switchyard/TASK. A dot that git does not
// accept there becomes a plus, and a byte that is not valid in a task id becomes a percent
// sign with two hex digits. Different ids have different branches.
func TaskBranch(id string) string {
	name := []byte(BranchPrefix)
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			name = append(name, c)
		case c == '.' && (i == 0 || id[i-1] == '.' || i == len(id)-1 || id[i:] == ".lock"):
			name = append(name, '+')
		case c == '.':
			name = append(name, c)
		default:
			name = fmt.Appendf(name, "%%%02X", c)
		}
	}
	if id == "" {
		name = append(name, '%')
	}
	return string(name)
}

// tip returns the commit of a branch, "" if it does not exist.
func (r *Repo) tip(ctx context.Context, branch string) (string, error) {
	return r.find(ctx, r.checkout, "rev-parse", "--verify", "--quiet", headsPrefix+branch)
}

// move moves a branch from the commit old, "" if it does not exist, to next, "" to delete
// it. reason is for its reflog.
func (r *Repo) move(ctx context.Context, p place, branch, next, old, reason string) error {
	args := []string{"update-ref", "--create-reflog", "-m", reason, headsPrefix + branch, next, old}
	if next == "" {
		args = []string{"update-ref", "-d", "-m", reason, headsPrefix + branch, old}
	}
	_, err := r.output(ctx, p, args...)
	if failureOf(err) == nil || errs.CodeOf(err) == errs.GitLocked {
		return err
	}
	if now, tipErr := r.tip(ctx, branch); tipErr == nil && now != old && now != "" {
		return errMoved(branch, now, old).Because(err)
	}
	return err
}

// checkName fails if git takes the name of an existing branch for another ref, such as a tag:
// a user who merges the branch by its name would get that.
func (r *Repo) checkName(ctx context.Context, branch string) error {
	// With the warnings, a ref that does not win over the branch counts too.
	env := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.warnAmbiguousRefs", "GIT_CONFIG_VALUE_0=false"}
	out, err := r.run(ctx, command{place: r.checkout, args: []string{"rev-parse", "--symbolic-full-name", branch}, env: env})
	ref := strings.TrimSpace(out)
	if err != nil || ref == headsPrefix+branch {
		return err
	}
	hint := "delete the file " + filepath.Join(r.common, filepath.FromSlash(ref)) + ", then run the task again"
	if strings.HasPrefix(ref, "refs/") {
		hint = fmt.Sprintf("find out who made it with git log -1 %s, delete it with git update-ref -d %[1]s, then run the task again", ref)
	}
	return errs.New(errs.BranchMoved, "git takes the name %s for %s and not for the branch, so that a merge would get the wrong commit", branch, ref).
		With("branch", branch).With("ref", ref).WithHint(hint)
}

func errMoved(branch, now, old string) *errs.Error {
	return errs.New(errs.BranchMoved, "the branch %s is at %s and not at %s, as it should be", branch, now, old).
		With("branch", branch).With("commit", now)
}

type worktree struct {
	path   string
	branch string // "" if HEAD is detached
	locked bool
	reason string // for the lock
}

// worktrees lists all worktrees of the repository, the main one first.
func (r *Repo) worktrees(ctx context.Context) ([]worktree, error) {
	out, err := r.output(ctx, r.checkout, "worktree", "list", "--porcelain", "-z")
	var all []worktree
	for _, line := range records(out) {
		name, value, _ := strings.Cut(line, " ")
		switch name {
		case "worktree":
			all = append(all, worktree{path: filepath.FromSlash(value)})
		case "branch":
			all[len(all)-1].branch = strings.TrimPrefix(value, headsPrefix)
		case "locked":
			all[len(all)-1].locked, all[len(all)-1].reason = true, value
		}
	}
	if len(all) > 0 {
		all[0].path = r.mainPlace().top // Git names the git directory if that is elsewhere.
	}
	return all, err
}

// worktreeAt returns the worktree at a path, or nil.
func worktreeAt(all []worktree, path string) *worktree {
	if i := slices.IndexFunc(all, func(w worktree) bool { return w.path == path }); i >= 0 {
		return &all[i]
	}
	return nil
}

// holder returns the path of the worktree that has the branch checked out, or is in the
// middle of rebasing it, or "".
func (r *Repo) holder(all []worktree, branch string) string {
	for _, w := range all {
		if w.branch == branch {
			return w.path
		}
	}
	for _, p := range append(r.linkedPlaces(), r.mainPlace()) {
		for _, name := range []string{"rebase-merge", "rebase-apply"} {
			if text, err := gitcmd.ReadLine(filepath.Join(p.git, name, "head-name")); err == nil && text == headsPrefix+branch {
				return p.top
			}
		}
	}
	return ""
}

func errHeld(branch, path string) *errs.Error {
	return errs.New(errs.BranchCheckedOut, "the branch %s is checked out in %s", branch, path).With("branch", branch).With("path", path)
}

// place returns the place of a linked worktree that the repository knows. Its .git file is
// not read, since an agent could have written it.
func (r *Repo) place(path string) (place, error) {
	path = canonical(path)
	for _, p := range r.linkedPlaces() {
		if info, err := os.Lstat(path); p.top == path && err == nil && info.IsDir() {
			return p, nil
		}
	}
	missing := errs.New(errs.WorktreeMissing, "there is no worktree at %s", path)
	if target, err := os.Readlink(path); err == nil { // The files may be there.
		missing = errs.New(errs.WorktreeMissing, "there is no worktree at %s, but a link to %s", path, textutil.Line(target))
	}
	return place{}, missing.With("path", path)
}

// mainPlace returns the main worktree. A bare repository does not have one; then top is the
// path that git worktree list prints.
func (r *Repo) mainPlace() place {
	if r.checkout.git == r.common {
		return r.checkout
	}
	return place{strings.TrimSuffix(r.common, string(filepath.Separator)+".git"), r.common}
}

// linkedPlaces lists the linked worktrees. Their directories need not exist.
func (r *Repo) linkedPlaces() []place {
	dir := filepath.Join(r.common, "worktrees")
	entries, _ := os.ReadDir(dir) // It does not exist before the first worktree.
	var all []place
	for _, e := range entries {
		git := filepath.Join(dir, e.Name())
		link, err := gitcmd.ReadLine(filepath.Join(git, "gitdir"))
		if err != nil {
			continue // It is being added or removed.
		}
		link = filepath.FromSlash(link)
		if !filepath.IsAbs(link) {
			link = filepath.Join(git, link)
		}
		all = append(all, place{filepath.Dir(link), git})
	}
	return all
}

// canonical returns a path as git names it: absolute, and without symbolic links in its
// directory.
func canonical(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}
