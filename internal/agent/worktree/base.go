package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Base returns the id of the commit that a draft is compared with: of rev, else of the
// merge base of HEAD and branch, else of HEAD if both are "". Before the first commit it
// is that of the empty tree.
//
// # Errors
//
// tree-no-git, tree-base-unknown, tree-unreadable and those of the supervisor. If ctx is
// done, the error wraps its cause.
func (t Tree) Base(ctx context.Context, rev, branch string) (commit string, err error) {
	err = t.scan(ctx, Scope{}, func(ctx context.Context, l *scanner) (err error) {
		commit, err = (&comparison{scanner: l}).base(ctx, rev, branch)
		return err
	})
	return commit, err
}

// comparison compares a working tree with a commit.
type comparison struct {
	*scanner
	repo  repo
	limit int64 // of what git diff prints
	// prefix is the root's path in the repository's working tree, "." for the top.
	prefix string
}

// locate finds the repository.
func (c *comparison) locate(ctx context.Context) error {
	if c.git.bin == "" {
		return errs.New(errs.TreeNoGit, "git is not installed, so that nothing can be compared")
	}
	found, err := c.enclosingRepo(ctx)
	if err != nil {
		return err
	}
	if found == nil {
		return errs.New(errs.TreeNoGit, "the project is in no git repository, so that nothing can be compared")
	}
	c.repo = *found
	return c.git.ready(c.repo)
}

func (c *comparison) base(ctx context.Context, rev, branch string) (string, error) {
	if err := c.locate(ctx); err != nil {
		return "", err
	}
	if rev != "" || branch == "" {
		return c.commit(ctx, rev)
	}
	other, err := c.commit(ctx, branch)
	if err != nil {
		return "", err
	}
	head, err := c.commit(ctx, "")
	if err != nil || slices.Contains(emptyTrees, head) {
		return head, err
	}
	common, ok, err := c.id(ctx, "merge-base", head, other)
	if err == nil && !ok {
		err = errs.New(errs.TreeBaseUnknown, "HEAD has no commit in common with %.200q", branch).With("base", branch)
	}
	return common, err
}

// commit returns the id of the commit base, "" for HEAD. Here git uses the repository's
// own configuration, of which it runs nothing.
func (c *comparison) commit(ctx context.Context, base string) (string, error) {
	if slices.Contains(emptyTrees, base) {
		return base, nil
	}
	if base == "" {
		base = "HEAD"
	}
	unknown := errs.New(errs.TreeBaseUnknown, "git knows no commit %.200q to compare with", base).With("base", base)
	// Other forms of revisions search, or do not name a commit.
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./+@{}~^-]{0,255}$`).MatchString(base) {
		return "", unknown
	}
	commit, ok, err := c.id(ctx, "rev-parse", "--verify", "--quiet", base+"^{commit}")
	switch {
	case err != nil || ok:
		return commit, err
	case base != "HEAD" || !c.repo.unborn():
		return "", unknown
	}
	// The format of ids is the repository's.
	empty, ok, err := c.id(ctx, "hash-object", "-t", "tree", "--no-filters", os.DevNull)
	if err == nil && !ok {
		err = unreadable(gitFolder, errBroken)
	}
	return empty, err
}

// id returns the id that a git command prints, if it succeeds.
func (c *comparison) id(ctx context.Context, args ...string) (string, bool, error) {
	out, err := c.git.run(ctx, gitCommand{dir: c.real, env: []string{"GIT_DIR=" + c.repo.dir, "GIT_WORK_TREE=" + c.repo.top}, args: args, limit: 1 << 20})
	if err != nil {
		return "", false, err
	}
	text, err := io.ReadAll(out.output)
	if err != nil {
		return "", false, unreadable(gitFolder, err)
	}
	id := strings.TrimSpace(string(text))
	return id, out.code == 0 && regexp.MustCompile(`^[0-9a-f]{40,64}$`).MatchString(id), nil
}

// emptyTrees are the ids of the empty tree in each format.
var emptyTrees = []string{
	"4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// unborn reports whether HEAD names a branch without a commit.
func (r repo) unborn() bool {
	names, err := r.head()
	if err != nil || len(names) == 0 {
		return false
	}
	common, err := os.OpenRoot(r.common)
	if err != nil {
		return false
	}
	defer common.Close()
	branch := names[len(names)-1]
	s := &state{items: make(map[gitKey]gitValue)}
	if err := s.packed(common, func(name string) bool { return name == branch }); err != nil {
		return false
	}
	_, err = common.Lstat(filepath.FromSlash(branch))
	return len(s.items) == 0 && errors.Is(err, fs.ErrNotExist)
}
