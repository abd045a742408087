package release

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// State is the release state of a version.
type State string

// The states of a version.
const (
	// StateReleased: the lock has it with its digest.
	StateReleased State = "released"
	// StateDraft: the lock does not have it yet.
	StateDraft State = "draft"
	// StateEdited: the lock has it with another digest, so it was changed after its
	// release.
	StateEdited State = "edited"
)

// Listed is a version of a tree, without lint results.
type Listed struct {
	// Folder is relative to the tree's root.
	Folder string
	// Policy is nil if the folder has no policy that loads; Err is then the reason.
	Policy *routing.Policy
	Err    error
	State  State
	// ADRStatus is the status of its decision record, or "" if it has none.
	ADRStatus adr.Status
}

// Versions lists the versions of the tree, oldest first. A tree that does not exist has
// none.
//
// # Errors
//
// policy-tree-unreadable if the tree cannot be read, and the error of ctx.
func (t Tree) Versions(ctx context.Context) ([]Listed, error) {
	root, err := t.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s, err := t.scan(ctx, root)
	if err != nil {
		return nil, err
	}
	var all []Listed
	for _, v := range s.versions {
		l := Listed{Folder: v.folder, Policy: v.policy, Err: v.err, State: StateDraft}
		want, locked := s.lock.digests[v.ref]
		switch {
		case locked && v.policy != nil && v.policy.Identity().Digest == want:
			l.State = StateReleased
		case locked:
			l.State = StateEdited
		}
		if v.policy != nil {
			if found, ok := s.records.of(v.policy.Identity().ADR); ok && found.Record.Policy == v.ref {
				l.ADRStatus = found.Record.Status
			}
		}
		all = append(all, l)
	}
	return all, nil
}
