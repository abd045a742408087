package gitrepo

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// unfitPattern matches the messages of git about files that it cannot store. Other failures, as
// on a full disk, are not the fault of the files.
var unfitPattern = lazy.Regexp(`can only add|unsupported file type|invalid path '|BOM is (required|prohibited)|failed to encode '|(LF|CRLF) would be replaced`)

// CheckDraft fails if the files of a worktree cannot be committed. It is for a draft that is
// not reviewed yet.
//
// # Errors
//
// tree-unreadable if git cannot store a file, and the errors of WriteTree.
func (r *Repo) CheckDraft(ctx context.Context, path string) error {
	_, err := r.WriteTree(ctx, path)
	if f := failureOf(err); f != nil && unfitPattern().MatchString(f.stderr) {
		return errs.New(errs.TreeUnreadable, "git cannot commit the files in %s: %s", textutil.Line(path), f.excerpt()).
			With("path", path).With("output", f.stderr).Because(f)
	}
	return err
}
