// Package release manages the versions of a policy: a version is a directory with its tests,
// its decision record and its line in versions.lock, and it is checked before it is
// released (docs/amending.md).
//
// A tree is the directories of a project that hold versions, ours or a user's. The built-in
// versions come before a tree's first one. Everything is read and written through an
// os.Root, so no symbolic link leads out of it.
package release

import (
	"context"
	"io/fs"
	"os"
	"path"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// policyName is the policy whose versions a tree holds.
const policyName = "routing"

// Tree locates versions and their decision records: versions.lock and routing/VERSION/ in
// the directory policies, and the records in docs/adr.
type Tree struct {
	// Root is the directory of the project; all access stays below it.
	Root string
	// BuiltIn holds the versions that come before the tree's first one; see
	// routing.Loader.
	BuiltIn fs.FS
}

// Replayer decides the rounds of a ledger again, up to the event through; 0 means all.
type Replayer func(ctx context.Context, candidate *routing.Policy, through int64) (replay.Report, error)

// The paths of a tree, below its root.
const (
	recordsDir  = "docs/adr"
	versionsDir = "policies/" + policyName
	lockPath    = "policies/" + routing.LockFile
)

func versionDir(number string) string { return path.Join(versionsDir, number) }

// open opens the tree's root, which the caller must close.
func (t Tree) open() (*os.Root, error) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, errs.New(errs.PolicyTreeUnreadable, "the policies' tree cannot be opened: %w", safefile.Reason(err)).With("path", t.Root)
	}
	return root, nil
}

// Waivers returns the waivers of a policy's record, for check.Verify. Waivers of a proposed
// record are marked Proposed; a rejected record, or a record of another version, has no
// effect.
//
// # Errors
//
// policy-tree-unreadable if the records cannot be read.
func (t Tree) Waivers(id routing.Identity) ([]check.Waiver, error) {
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	records, err := readRecords(root)
	if err != nil {
		return nil, err
	}
	found, ok := records.of(id.ADR)
	if !ok || found.Record.Status == adr.Rejected || found.Record.Policy != id.String() {
		return []check.Waiver{}, nil
	}
	all := waivers(found.Record)
	for i := range all {
		all[i].Proposed = found.Record.Status == adr.Proposed
	}
	return all, nil
}
