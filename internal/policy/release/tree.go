// Package release holds the life of a policy's versions to its rules: a version
// is a folder with its tests, its decision record and its line in versions.lock,
// and it is proven before it is released (docs/amending.md).
//
// A tree is the folders of a project where that happens, our own or a user's.
// Versions before a tree's first one are those that are built in. Everything is
// read and written below an opened root, so no symbolic link leads out of it.
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

// Tree is where versions and their decision records lie.
type Tree struct {
	// Root is the folder that nothing leads out of.
	Root string
	// Policies holds versions.lock and routing/VERSION/, relative to Root and with
	// slashes; "" is policies.
	Policies string
	// ADRs holds the decision records; "" is docs/adr.
	ADRs string
	// BuiltIn holds the versions that come before the tree's first one; see
	// routing.Loader.
	BuiltIn fs.FS
}

func (t Tree) loader() routing.Loader { return routing.Loader{Released: t.BuiltIn} }

// Replayer makes the decisions of a ledger again, those up to the event through; 0
// stands for all of them.
type Replayer func(ctx context.Context, candidate *routing.Policy, through int64) (replay.Report, error)

func (t Tree) policies() string {
	if t.Policies == "" {
		return "policies"
	}
	return path.Clean(t.Policies)
}

func (t Tree) adrs() string {
	if t.ADRs == "" {
		return "docs/adr"
	}
	return path.Clean(t.ADRs)
}

// versions is the folder of the versions' folders.
func (t Tree) versions() string { return path.Join(t.policies(), policyName) }

// folder is the folder of a version.
func (t Tree) folder(version string) string { return path.Join(t.versions(), version) }

// lock is the lock's path.
func (t Tree) lock() string { return path.Join(t.policies(), routing.LockFile) }

// open opens the tree's root, which the caller closes.
func (t Tree) open() (*os.Root, error) {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return nil, errs.New(errs.PolicyTreeUnreadable, "the policies' tree cannot be opened: %w", safefile.Reason(err)).With("path", t.Root)
	}
	return root, nil
}

// Waivers are the invariants that the record of a policy waives, for check.Verify.
// Those of a proposed record are Proposed; a rejected one waives nothing, nor does one
// of another version.
//
// # Errors
//
// policy-tree-unreadable where the records cannot be read.
func (t Tree) Waivers(id routing.Identity) ([]check.Waiver, error) {
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	records, err := t.records(root)
	if err != nil {
		return nil, err
	}
	found, ok := records.of(id.ADR)
	if !ok || found.Record.Status == adr.Rejected || found.Record.Policy != reference(id) {
		return []check.Waiver{}, nil
	}
	all := waivers(found.Record)
	for i := range all {
		all[i].Proposed = found.Record.Status == adr.Proposed
	}
	return all, nil
}

// reference names a version, as routing@1.2.0.
func reference(id routing.Identity) string { return id.Name + "@" + id.Version }
