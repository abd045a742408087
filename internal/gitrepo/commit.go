package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// DecisionTrailer is the key of the trailer that identifies the commit of a decision.
const DecisionTrailer = "Switchyard-Decision"

// Trailer is a line at the end of a commit's message.
type Trailer struct{ Key, Value string }

// trailersFormat makes git print a commit's trailers, for parseTrailers.
const trailersFormat = "%(trailers:only=true,unfold=true)"

func parseTrailers(text string) (trailers []Trailer) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			trailers = append(trailers, Trailer{key, strings.TrimSpace(value)})
		}
	}
	return trailers
}

// CommitRequest is the request for a commit.
type CommitRequest struct {
	// Tree is the result of WriteTree, and Parent the commit that the branch is at.
	Tree, Parent string
	// Message does not have the trailers. Hidden characters are escaped.
	Message string
	// Trailers include a DecisionTrailer. White space in a value becomes a space.
	Trailers []Trailer
}

// Commit commits a tree to the worktree's branch and returns the commit's hash. If the
// branch is at that commit already, it returns it. Then it makes the worktree's index agree
// with the commit, without writing files. Author, committer and signature are as git's
// settings say.
//
// # Errors
//
// worktree-missing, worktree-switched, branch-moved if the branch is at another commit than
// Parent or git takes its name for another ref, author-unknown, signing-failed. The branch has
// not moved, unless only the index could not be written; the call may be repeated.
func (r *Repo) Commit(ctx context.Context, w Worktree, c CommitRequest) (string, error) {
	p, err := r.place(w.Path)
	if err != nil {
		return "", err
	}
	commit, has, err := r.head(ctx, p, w.Branch)
	switch {
	case err != nil:
		return "", err
	case commit == "":
		return "", errs.New(errs.BranchMoved, "the branch %s is gone", w.Branch).With("branch", w.Branch)
	}
	made, err := r.isMade(ctx, c, commit, has)
	if err != nil {
		return "", err
	}
	if !made {
		if commit, err = r.CreateCommit(ctx, c.Tree, []string{c.Parent}, c.Message, c.Trailers); err != nil {
			return "", err
		}
		if err := r.checkName(ctx, w.Branch); err != nil {
			return "", err
		}
		if err := r.move(ctx, p, w.Branch, commit, c.Parent, "switchyard: commit"); err != nil {
			return "", err
		}
	}
	if r.restoreIndex(p, c.Tree) {
		return commit, nil
	}
	if _, err := r.output(ctx, p, "read-tree", "--reset", commit); err != nil {
		return "", err
	}
	// It fails if a file differs, which the caller checks with WriteTree.
	if _, err := r.find(ctx, p, "update-index", "-q", "--refresh"); err != nil {
		return "", err
	}
	return commit, nil
}

// restoreIndex replaces the index of a worktree by that of the latest WriteTree, if it has the
// tree. Git would read many files: those that are as new as the index that it replaces. It
// reports whether it did; if not, git can do it, or says why it cannot.
func (r *Repo) restoreIndex(p place, tree string) bool {
	saved := r.savedIndex(p)
	if saved == nil || saved.tree != tree {
		return false
	}
	index := filepath.Join(p.git, "index")
	old, err := os.Lstat(index)
	if err != nil || !old.Mode().IsRegular() {
		return false
	}
	lock := index + ".lock"
	f, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return false
	}
	_, err = f.Write(saved.data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chmod(lock, old.Mode().Perm()) // A shared repository ignores the umask.
	}
	if err == nil {
		err = os.Chtimes(lock, saved.changed, saved.changed)
	}
	if err == nil {
		err = os.Rename(lock, index)
	}
	if err != nil {
		_ = os.Remove(lock) // Git says what is wrong.
	}
	return err == nil
}

// isMade reports whether a commit with these trailers is the requested one. Anyone can write
// the trailer of a decision. The parent of a draft by hand is the branch's tip, which is the
// commit itself after a call that was killed.
func (r *Repo) isMade(ctx context.Context, c CommitRequest, commit string, trailers []Trailer) (bool, error) {
	names := func(t Trailer) bool { return t.Key == DecisionTrailer && slices.Contains(c.Trailers, t) }
	if !slices.ContainsFunc(trailers, names) {
		return false, nil
	}
	is, err := r.ReadCommit(ctx, commit)
	return is.Tree == c.Tree && (commit == c.Parent || slices.Equal(is.Parents, []string{c.Parent})), err
}

// head returns the commit of the branch with its trailers, "" if the branch does not exist.
// It fails unless HEAD of the working tree is on the branch.
func (r *Repo) head(ctx context.Context, p place, branch string) (commit string, trailers []Trailer, err error) {
	out, err := r.output(ctx, p, "for-each-ref", "--format=%(HEAD)%(refname) %(objectname)%0a"+trailersFormat, "--", headsPrefix+branch)
	if err != nil {
		return "", nil, err
	}
	tip, text, _ := strings.Cut(out, "\n")
	if commit, ok := strings.CutPrefix(tip, "*"+headsPrefix+branch+" "); ok {
		return commit, parseTrailers(text), nil
	}
	// HEAD can be on a branch that does not exist.
	on, err := r.find(ctx, p, "symbolic-ref", "--quiet", "HEAD")
	if err == nil && on != headsPrefix+branch {
		err = errSwitched(p.top, branch)
	}
	return "", nil, err
}

// CreateCommit creates a commit. It does not move a branch.
//
// # Errors
//
// author-unknown and signing-failed.
func (r *Repo) CreateCommit(ctx context.Context, tree string, parents []string, message string, trailers []Trailer) (string, error) {
	text := strings.TrimSpace(textutil.Lines(message)) + "\n\n"
	for _, t := range trailers {
		text += fmt.Sprintf("%s: %s\n", t.Key, strings.TrimSpace(textutil.Line(t.Value)))
	}
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	sign, err := r.find(ctx, r.checkout, "config", "--type=bool", "--get", "commit.gpgSign")
	if err != nil {
		return "", err
	}
	if sign == "true" {
		args = append(args, "-S")
	}
	out, err := r.run(ctx, command{place: r.checkout, args: args, input: text})
	failed := failureOf(err)
	if failed == nil {
		return strings.TrimSpace(out), err
	}
	if err := r.CheckAuthor(ctx); err != nil {
		return "", err
	}
	if sign == "true" {
		return "", errs.New(errs.SigningFailed, "the commit cannot be signed: %s", failed.excerpt()).With("output", failed.stderr).Because(failed)
	}
	return "", err
}

// identityErrors matches the messages of git without a name or email address for a commit.
var identityErrors = lazy.Regexp(`tell me who you are|was given and auto-detection is disabled|ident name|disallowed characters`)

// CheckAuthor fails if git has no name and email address for a commit's author or
// committer.
//
// # Errors
//
// author-unknown.
func (r *Repo) CheckAuthor(ctx context.Context) error {
	for _, ident := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		_, err := r.output(ctx, r.checkout, "var", ident)
		if failed := failureOf(err); failed != nil && identityErrors().MatchString(failed.stderr) {
			return errs.New(errs.AuthorUnknown, "git has no name and email address for the author of a commit").Because(failed)
		} else if err != nil {
			return err
		}
	}
	return nil
}
