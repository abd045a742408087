package gitrepo

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// Top returns the path of the checkout that the repository was opened for.
func (r *Repo) Top() string { return r.checkout.top }

// HasWorktree reports whether there is a worktree at a path, and git was not killed while it
// checked its files out.
func (r *Repo) HasWorktree(path string) bool {
	p, err := r.place(path)
	if err != nil {
		return false
	}
	reason, _ := gitcmd.ReadLine(filepath.Join(p.git, "locked")) // It may be unlocked.
	return reason != gitReason
}

// Tip returns the commit that a worktree's branch is at.
//
// # Errors
//
// worktree-missing, and worktree-switched if HEAD of the worktree is not on the branch.
func (r *Repo) Tip(ctx context.Context, w Worktree) (string, error) {
	p, err := r.place(w.Path)
	if err != nil {
		return "", err
	}
	tip, _, err := r.head(ctx, p, w.Branch)
	return tip, err
}

// Commit is a commit of the repository.
type Commit struct {
	// Hash and Tree are object names in hex digits.
	Hash, Tree string
	// Parents are its parents. Shallow is set if it has a parent that is not in the repository.
	Parents []string
	Shallow bool
	// Subject is the first line of its message.
	Subject  string
	Trailers []Trailer
}

// ReadCommit reads the commit that a revision names.
//
// # Errors
//
// revision-unknown.
func (r *Repo) ReadCommit(ctx context.Context, rev string) (Commit, error) {
	hash, _, err := r.Resolve(ctx, rev)
	if err != nil {
		return Commit{}, err
	}
	out, err := r.output(ctx, r.checkout, "rev-list", "--max-count=1", "--no-commit-header", "--format=%T%n%P%n%s%n"+trailersFormat, hash)
	if err != nil {
		return Commit{}, err
	}
	c := Commit{Hash: hash}
	c.Tree, out, _ = strings.Cut(out, "\n")
	parents, out, _ := strings.Cut(out, "\n")
	c.Subject, out, _ = strings.Cut(out, "\n")
	c.Parents, c.Trailers = strings.Fields(parents), parseTrailers(out)
	if len(c.Parents) == 0 && r.IsShallow() {
		c.Shallow, err = r.hasParent(ctx, hash)
	}
	return c, err
}

// IsShallow reports whether the repository may lack commits before those that it has.
func (r *Repo) IsShallow() bool { return exists(filepath.Join(r.common, "shallow")) }

// hasParent reports whether a commit has a parent, which a shallow clone does not show.
func (r *Repo) hasParent(ctx context.Context, commit string) (bool, error) {
	out, err := r.output(ctx, r.checkout, "cat-file", "commit", commit)
	header, _, _ := strings.Cut(out, "\n\n")
	return strings.Contains(header, "\nparent "), err
}

// Changed lists the files that differ between two commits or trees, including submodules
// that .gitmodules tells git to ignore.
func (r *Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	out, err := r.run(ctx, command{place: r.checkout, limit: slow, args: []string{
		"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", from, to,
	}})
	return records(out), err
}

// Tree returns the tree of a commit or a tree, "" if the repository does not have it.
func (r *Repo) Tree(ctx context.Context, object string) (string, error) {
	if !gitcmd.IsID(object) {
		return "", nil
	}
	out, err := r.output(ctx, r.checkout, "rev-parse", "--verify", "--quiet", object+"^{tree}")
	if f := failureOf(err); f != nil && f.code > 0 {
		return "", nil
	}
	return out, err
}

// EmptyTree returns the tree without files, in the repository's object format.
func (r *Repo) EmptyTree(ctx context.Context) (string, error) {
	out, err := r.run(ctx, command{place: r.checkout, args: []string{"mktree"}})
	return strings.TrimSpace(out), err
}

// MergeBases returns the commits at which the histories of two commits part: several if each
// was merged into the other, and none if they have no common commit.
func (r *Repo) MergeBases(ctx context.Context, a, b string) ([]string, error) {
	out, err := r.find(ctx, r.checkout, "merge-base", "--all", a, b)
	return strings.Fields(out), err
}

// AutoMerge returns the tree to which git merges two commits by itself. A file with a conflict
// has git's marks in it.
func (r *Repo) AutoMerge(ctx context.Context, ours, theirs string) (string, error) {
	out, err := r.run(ctx, command{place: r.checkout, limit: slow, args: []string{
		"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories", ours, theirs,
	}})
	tree, _, _ := strings.Cut(strings.TrimSpace(out), "\x00")
	if isNegative(err) && gitcmd.IsID(tree) { // There are conflicts.
		err = nil
	}
	return tree, err
}

// Commits lists the commits that are reachable from one and not from another, oldest first,
// at most limit.
func (r *Repo) Commits(ctx context.Context, from, to string, limit int) ([]string, error) {
	out, err := r.output(ctx, r.checkout, "rev-list", "--reverse", "--topo-order", "--max-count="+strconv.Itoa(limit), to, "^"+from)
	return strings.Fields(out), err
}
