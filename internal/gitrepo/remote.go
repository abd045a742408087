package gitrepo

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// OpenCache opens the bare repository dir, which has copies of refs of a remote, and creates
// it if it is missing, in the object format of a commit of the remote: git does not fetch from
// a repository of another format. Worktrees of tasks can be added to it.
//
// # Errors
//
// git-missing.
func OpenCache(ctx context.Context, dir, commit string, o Options) (*Repo, error) {
	r, err := newRepo(o)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unwritable(err)
	}
	dir = canonical(dir)
	r.checkout, r.common = place{top: dir, git: dir}, dir
	if !exists(filepath.Join(dir, "objects", "info")) { // Git init creates it last.
		format := "sha1"
		if len(commit) == sha256.Size*2 {
			format = "sha256"
		}
		if _, err := r.output(ctx, place{top: dir}, "init", "--quiet", "--bare", "--template=", "--object-format="+format, dir); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// RemoteURL returns the URL of a remote of the repository. It returns any URL or path
// unchanged, because only a connection would show whether a repository is there.
//
// # Errors
//
// remote-unknown.
func (r *Repo) RemoteURL(ctx context.Context, remote string) (string, error) {
	if strings.ContainsAny(remote, `:/\`) {
		return remote, nil
	}
	url, err := r.output(ctx, r.checkout, "remote", "get-url", "--push", "--", remote)
	if failed := failureOf(err); failed != nil {
		return "", errs.New(errs.RemoteUnknown, "the repository has no remote %s", remote).With("remote", remote).Because(failed)
	}
	return url, err
}

// Fetch copies a ref of the repository at url, with the history of its commit, to the same
// ref of this repository. It returns the commit, or "" if the ref does not exist.
//
// # Errors
//
// fetch-failed if the repository cannot be reached or read.
func (r *Repo) Fetch(ctx context.Context, url, ref string) (string, error) {
	_, err := r.run(ctx, command{place: r.checkout, limit: slow, args: []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc", "--refmap=", "--", url, "+" + ref + ":" + ref,
	}})
	f := failureOf(err)
	switch {
	case f == nil && err != nil:
		return "", err
	case f != nil && strings.Contains(f.stderr, "couldn't find remote ref"):
		return "", nil
	case f != nil:
		return "", errFetch(f)
	}
	return r.output(ctx, r.checkout, "rev-parse", "--verify", ref)
}

func errFetch(f *failure) error {
	return errs.New(errs.FetchFailed, "the remote cannot be read: %s", f.excerpt()).With("output", f.stderr).Because(f)
}

// RemoteRef returns the commit of a ref of the repository at url, "" if the ref does not
// exist.
//
// # Errors
//
// fetch-failed.
func (r *Repo) RemoteRef(ctx context.Context, url, ref string) (string, error) {
	out, err := r.run(ctx, command{place: r.checkout, limit: slow, args: []string{"ls-remote", "--quiet", "--", url, ref}})
	if f := failureOf(err); f != nil {
		return "", errFetch(f)
	}
	for line := range strings.Lines(out) { // Git also lists refs that end in the name.
		if hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == ref {
			return hash, nil
		}
	}
	return "", err
}

// RefMove moves a ref of a remote from the commit From, "" if the ref must not exist, to
// its descendant To.
type RefMove struct{ Ref, From, To string }

// PushRefs atomically moves refs of the repository at url, by compare-and-swap.
//
// # Errors
//
// push-rejected if a ref is not at From, To is not a descendant of From, or the remote does
// not accept it; push-failed if the remote cannot be reached.
func (r *Repo) PushRefs(ctx context.Context, url string, moves ...RefMove) error {
	args := []string{"push", "--porcelain", "--atomic", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"}
	var names []string
	for _, m := range moves {
		if m.From != "" { // With a lease, git accepts any other commit.
			if follows, err := r.IsAncestor(ctx, m.From, m.To); err != nil {
				return err
			} else if !follows {
				return errs.New(errs.PushRejected, "%s cannot be moved from %.12s to %.12s, which does not follow it", m.Ref, m.From, m.To).With("ref", m.Ref)
			}
		}
		args = append(args, "--force-with-lease="+m.Ref+":"+m.From)
		names = append(names, m.To+":"+m.Ref)
	}
	return r.push(ctx, command{}, moves[0].Ref, append(append(args, "--", url), names...)...)
}

// CheckOut makes path a worktree of a commit at a detached HEAD. It removes other files
// there, except for the directory keep.
//
// # Errors
//
// worktree-exists and worktree-inside.
func (r *Repo) CheckOut(ctx context.Context, path, commit, keep string) error {
	path, known, err := r.prepare(path)
	if err != nil {
		return err
	}
	if !known {
		return r.addDetached(ctx, path, commit, taskReason)
	}
	p, err := r.place(path)
	if err != nil {
		return err
	}
	return r.runAll(ctx, p,
		[]string{"update-ref", "--no-deref", "HEAD", commit},
		[]string{"read-tree", "--reset", commit},
		writeFiles,
		[]string{"clean", "-ffdxq", "--exclude=/" + keep},
	)
}

// Restore brings a worktree of a cache into the state in which an agent left it on another
// machine: its branch is at head, and it has the files of the commit draft. It adds the
// worktree if it is missing.
//
// # Errors
//
// The errors of AddWorktree.
func (r *Repo) Restore(ctx context.Context, w Worktree, head, draft string) error {
	if err := r.forgetMoved(ctx, w); err != nil {
		return err
	}
	if err := r.AddWorktree(ctx, w, head); err != nil {
		return err
	}
	p, err := r.place(w.Path)
	if err != nil {
		return err
	}
	return r.runAll(ctx, p,
		[]string{"symbolic-ref", "HEAD", headsPrefix + w.Branch},
		[]string{"update-ref", headsPrefix + w.Branch, head},
		[]string{"read-tree", "--reset", draft},
		writeFiles,
		[]string{"clean", "-ffdxq"},
		[]string{"read-tree", "--reset", head},
	)
}

// forgetMoved removes the branch of a worktree, if git knows it at another path that is gone: the
// directory of the cache and its worktrees was moved.
func (r *Repo) forgetMoved(ctx context.Context, w Worktree) error {
	all, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.branch != w.Branch || old.path == canonical(w.Path) || exists(old.path) {
			continue
		}
		if err := r.unregister(ctx, old); err != nil {
			return err
		}
		if tip, err := r.tip(ctx, w.Branch); err != nil || tip == "" {
			return err
		} else if err := r.move(ctx, r.checkout, w.Branch, "", tip, "switchyard: moved"); err != nil {
			return err
		}
	}
	return nil
}

// writeFiles writes the files of an index that are missing or differ. Other commands keep a
// changed file that an agent has marked as skip-worktree.
var writeFiles = []string{"checkout-index", "--all", "--force", "--index", "--quiet", "--ignore-skip-worktree-bits"}

// Discard removes a worktree of a cache with all of its files, also if only a part of it is
// there.
func (r *Repo) Discard(ctx context.Context, path string) error {
	path = canonical(path)
	for _, p := range r.linkedPlaces() {
		if p.top == path {
			return r.discard(ctx, worktree{path: path, locked: exists(filepath.Join(p.git, "locked"))})
		}
	}
	return removeAll(path)
}

// SameFile reports whether a file of the user's checkout has the content that it has in a
// commit, or is in neither. The name is relative to the checkout, with slashes.
func (r *Repo) SameFile(ctx context.Context, commit, name string) (bool, error) {
	there, err := r.find(ctx, r.checkout, "rev-parse", "--verify", "--quiet", commit+":"+name)
	if err != nil {
		return false, err
	}
	if !exists(filepath.Join(r.checkout.top, filepath.FromSlash(name))) {
		return there == "", nil
	}
	here, err := r.output(ctx, r.checkout, "hash-object", "--", name)
	return here == there, err
}
