package worktree

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// Base returns the id of the commit that a draft is compared with: rev, or else the merge base
// of HEAD and branch, or HEAD if both are "". Before the first commit it is the id of the
// empty tree.
//
// # Errors
//
// tree-no-git, tree-base-unknown, tree-unreadable and errors from the supervisor. If ctx is
// done, the error wraps its cause.
func (t Tree) Base(ctx context.Context, rev, branch string) (commit string, err error) {
	err = t.scan(ctx, Scope{}, func(ctx context.Context, s *scanner) (err error) {
		commit, err = s.base(ctx, rev, branch)
		return err
	})
	return commit, err
}

// comparedRepo returns the repository with which the tree is compared.
func (s *scanner) comparedRepo(ctx context.Context) (*repo, error) {
	if s.git.bin == "" {
		return nil, errs.New(errs.TreeNoGit, "git is not installed, so that nothing can be compared")
	}
	r, err := s.enclosingRepo(ctx)
	if err == nil && r == nil {
		err = errs.New(errs.TreeNoGit, "the project is not in a git repository, so that nothing can be compared")
	}
	if err == nil {
		err = s.git.checkFiles(*r)
	}
	return r, err
}

func (s *scanner) base(ctx context.Context, rev, branch string) (string, error) {
	r, err := s.comparedRepo(ctx)
	if err != nil {
		return "", err
	}
	if rev != "" || branch == "" {
		return s.commit(ctx, *r, rev)
	}
	other, err := s.commit(ctx, *r, branch)
	if err != nil {
		return "", err
	}
	head, err := s.commit(ctx, *r, "")
	if err != nil || slices.Contains(emptyTrees, head) {
		return head, err
	}
	common, err := s.id(ctx, *r, "merge-base", head, other)
	if err == nil && common == "" {
		err = errs.New(errs.TreeBaseUnknown, "HEAD has no commit in common with %.200q", branch).With("base", branch)
	}
	return common, err
}

// commit returns the id of the commit base, "" for HEAD.
func (s *scanner) commit(ctx context.Context, r repo, base string) (string, error) {
	if slices.Contains(emptyTrees, base) {
		return base, nil
	}
	if base == "" {
		base = "HEAD"
	}
	commit := ""
	// Other forms of revisions search commits, or do not name one.
	if regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@{}~^-]{0,255}$`).MatchString(base) {
		var err error
		if commit, err = s.id(ctx, r, "rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
			return "", err
		}
		if base != "HEAD" && !gitcmd.IsID(base) && !strings.HasPrefix(base, "refs/") {
			// A tag with a branch's name would hide a part of the draft.
			ofBranch, err := s.id(ctx, r, "rev-parse", "--verify", "--quiet", "refs/heads/"+base+"^{commit}")
			if err == nil && ofBranch != "" && ofBranch != commit {
				err = errs.New(errs.TreeBaseUnknown, "git takes the name %q for a tag or another ref, and not for the branch of that name", base).With("base", base).
					WithHint("delete the other ref, which git show-ref lists, or write refs/heads/" + base + " for the branch")
			}
			if err != nil {
				return "", err
			}
		}
	}
	switch {
	case commit != "":
		return commit, nil
	case base != "HEAD" || !r.isUnborn():
		return "", errs.New(errs.TreeBaseUnknown, "git knows no commit %.200q to compare with", base).With("base", base)
	}
	// The format of ids depends on the repository.
	empty, err := s.id(ctx, r, "hash-object", "-t", "tree", "--no-filters", os.DevNull)
	if err == nil && empty == "" {
		err = unreadable(gitFolder, errBroken)
	}
	return empty, err
}

// emptyTrees are the ids of the empty tree in each format.
var emptyTrees = []string{
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// id returns the id that a git command prints, "" if the command fails.
func (s *scanner) id(ctx context.Context, r repo, args ...string) (string, error) {
	out, err := s.git.run(ctx, r.command(args...))
	if id := strings.TrimSuffix(out.Output, "\n"); err == nil && out.ExitCode == 0 && gitcmd.IsID(id) {
		return id, nil
	}
	return "", err
}

// isUnborn reports whether HEAD names a branch without a commit.
func (r repo) isUnborn() bool {
	names, err := r.head()
	if err != nil || len(names) == 0 {
		return false
	}
	branch := names[len(names)-1]
	packed, err := r.packedRefs(func(name string) bool { return name == branch })
	if err != nil || len(packed) > 0 {
		return false
	}
	_, err = os.Lstat(filepath.Join(r.common, filepath.FromSlash(branch)))
	return isMissing(err)
}
