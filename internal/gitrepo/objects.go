package gitrepo

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkObjects fails with git-object-invalid if a file or directory of a commit or tree, which
// another lacks, is stored with contents of another id. Git does not write an object whose id
// is there already, and does not compare contents with ids when it checks files out. So a
// process that can write in the git directory could replace files that were reviewed.
func (r *Repo) checkObjects(ctx context.Context, p place, from, to string) error {
	out, err := r.run(ctx, command{place: p, limit: slow, args: []string{
		"diff-tree", "-r", "-t", "-z", "--no-renames", "--ignore-submodules=none", from, to,
	}})
	if err != nil {
		return err
	}
	// Git compares what is named, and excludes what it need not read.
	var ids strings.Builder
	ids.WriteString("^" + from + "^{tree}\n" + to + "\n" + to + "^{tree}\n")
	for found := records(out); len(found) > 1; found = found[2:] {
		fields := strings.Fields(found[0]) // :MODE MODE ID ID LETTER
		if len(fields) == 5 && fields[4] != "D" && fields[1] != gitcmd.Gitlink {
			ids.WriteString(fields[3] + "\n")
		}
	}
	_, err = r.run(ctx, command{place: p, limit: slow, input: ids.String(), args: []string{"rev-list", "--verify-objects", "--no-walk", "--quiet", "--stdin"}})
	if f := failureOf(err); f != nil && strings.Contains(f.stderr, "hash mismatch") {
		return errs.New(errs.GitObjectInvalid, "an object in the git directory has other contents than its name says: %s", textutil.Line(strings.TrimSpace(f.stderr))).
			With("output", f.stderr).Because(f)
	}
	return err
}
