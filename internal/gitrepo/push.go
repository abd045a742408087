package gitrepo

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// CheckRemote fails if git knows no remote of this name. A URL or a path passes: only a
// connection would show whether a repository is there.
//
// # Errors
//
// remote-unknown.
func (r *Repo) CheckRemote(ctx context.Context, remote string) error {
	if strings.ContainsAny(remote, `:/\`) {
		return nil
	}
	_, err := r.RemoteURL(ctx, remote)
	return err
}

// Push pushes a branch to the branch of the same name of a remote. The repository's
// pre-push hook runs, as it does for the user.
//
// # Errors
//
// push-rejected if the remote does not take the branch, for example because it has other
// commits there; push-failed if it cannot be reached or the hook refuses.
func (r *Repo) Push(ctx context.Context, remote, branch string) error {
	ref := headsPrefix + branch
	return r.push(ctx, true, "the branch "+branch, "push", "--porcelain", "--no-force", "--no-follow-tags", "--recurse-submodules=no", "--", remote, ref+":"+ref)
}

// push runs git push --porcelain. what is pushed is for the message.
func (r *Repo) push(ctx context.Context, hooks bool, what string, args ...string) error {
	out, err := r.run(ctx, command{place: r.checkout, limit: slow, hooks: hooks, args: args})
	f := failureOf(err)
	if f == nil {
		return err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == "!" && len(fields) == 3 {
			return errs.New(errs.PushRejected, "the remote does not take %s: %s", what, textutil.Clip(textutil.Line(redact.Text(fields[2])), 200)).
				With("output", f.stderr).Because(f)
		}
	}
	return errs.New(errs.PushFailed, "%s cannot be pushed: %s", what, f.excerpt()).With("output", f.stderr).Because(f)
}
