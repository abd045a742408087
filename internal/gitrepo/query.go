package gitrepo

import (
	"context"
	"strings"
)

// Top returns the path of the checkout that the repository was opened for.
func (r *Repo) Top() string { return r.checkout.top }

// HasWorktree reports whether there is a worktree at a path.
func (r *Repo) HasWorktree(path string) bool {
	_, err := r.place(path)
	return err == nil
}

// Tip returns the commit that a worktree's branch is at.
//
// # Errors
//
// worktree-missing, worktree-switched if HEAD of the worktree is elsewhere, git-failed
// and those of the supervisor.
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
	// Subject is the first line of its message.
	Subject string
	// Trailers are in their order.
	Trailers []Trailer
}

// ReadCommit reads the commit that a revision names.
//
// # Errors
//
// revision-unknown, git-failed and those of the supervisor.
func (r *Repo) ReadCommit(ctx context.Context, rev string) (Commit, error) {
	hash, _, err := r.Resolve(ctx, rev)
	if err != nil {
		return Commit{}, err
	}
	out, err := r.output(ctx, r.checkout, "rev-list", "--max-count=1", "--no-commit-header", "--format=%T%n%s%n"+trailersFormat, hash)
	tree, out, _ := strings.Cut(out, "\n")
	subject, out, _ := strings.Cut(out, "\n")
	return Commit{hash, tree, subject, parseTrailers(out)}, err
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
