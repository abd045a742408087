package gitrepo

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/redact"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Push pushes a branch to the branch of the same name of a remote. The repository's
// pre-push hook runs, as it does for the user. record is as in RunHooks.
//
// # Errors
//
// push-rejected if the remote does not accept the branch, for example because its branch has
// other commits; push-failed if it cannot be reached or the hook refuses.
func (r *Repo) Push(ctx context.Context, remote, branch string, record func(supervise.Identity) error) error {
	ref := headsPrefix + branch
	return r.push(ctx, command{hooks: true, record: record}, "the branch "+branch, "push", "--porcelain", "--no-force", "--no-follow-tags", "--recurse-submodules=no", "--", remote, ref+":"+ref)
}

// push runs git push --porcelain. Messages name the pushed branch or ref as subject.
func (r *Repo) push(ctx context.Context, c command, subject string, args ...string) error {
	c.place, c.limit, c.args = r.checkout, slow, args
	out, err := r.run(ctx, c)
	f := failureOf(err)
	if f == nil {
		return err
	}
	for line := range strings.Lines(out) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == "!" && len(fields) == 3 {
			return errs.New(errs.PushRejected, "the remote does not take %s: %s", subject, textutil.Clip(textutil.Line(redact.Text(fields[2])), 200)).
				With("output", f.stderr).Because(f)
		}
	}
	return errs.New(errs.PushFailed, "%s cannot be pushed: %s", subject, f.excerpt()).With("output", f.stderr).Because(f)
}
