package gitrepo

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitcmd"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// noMode is what git lists as the mode of a file that is missing, and directoryMode as that of a
// directory.
const noMode, directoryMode = "000000", "040000"

// change is a file or directory that differs between two trees, or between a tree and an index.
type change struct {
	indexEntry            // Its mode is noMode if it is deleted.
	oldMode, oldID string // oldMode is noMode if it is new.
}

// parseChanges parses git's raw format of a diff without renames.
func parseChanges(out string) []change {
	var changes []change
	for found := records(out); len(found) > 1; found = found[2:] {
		fields := strings.Fields(strings.TrimPrefix(found[0], ":")) // MODE MODE ID ID LETTER
		if len(fields) == 5 {
			changes = append(changes, change{indexEntry{fields[1], fields[3], found[1]}, fields[0], fields[2]})
		}
	}
	return changes
}

// diffTrees lists the files and directories that differ between two commits or trees.
func (r *Repo) diffTrees(ctx context.Context, p place, from, to string) ([]change, error) {
	out, err := r.run(ctx, command{place: p, limit: slow, args: []string{
		"diff-tree", "-r", "-t", "-z", "--no-renames", "--ignore-submodules=none", from, to,
	}})
	return parseChanges(out), err
}

// checkObjects fails with git-object-invalid if a file or directory that differs between two
// commits or trees is stored, in either, with contents of another id. Git does not write an
// object whose id is there already, and does not compare contents with ids when it reads them.
// So a process that can write in the git directory could replace files that were reviewed, or
// hide a change from the review, whose diff begins with what was there before.
func (r *Repo) checkObjects(ctx context.Context, p place, from, to string, changes []change) error {
	// Git compares what is named, and excludes what it need not read.
	var ids strings.Builder
	ids.WriteString("^" + from + "^{tree}\n" + to + "\n" + to + "^{tree}\n")
	for _, c := range changes {
		if c.oldMode != noMode && c.oldMode != gitcmd.Gitlink {
			ids.WriteString(c.oldID + "\n")
		}
		if c.mode != noMode && c.mode != gitcmd.Gitlink {
			ids.WriteString(c.id + "\n")
		}
	}
	_, err := r.run(ctx, command{place: p, limit: slow, input: ids.String(), args: []string{"rev-list", "--verify-objects", "--no-walk", "--quiet", "--stdin"}})
	if f := failureOf(err); f != nil && strings.Contains(f.stderr, "hash mismatch") {
		return errs.New(errs.GitObjectInvalid, "an object in the git directory has other contents than its name says: %s", textutil.Line(strings.TrimSpace(f.stderr))).
			With("output", f.stderr).Because(f)
	}
	return err
}
