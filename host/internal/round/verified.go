package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// verified finds out how the draft is verified. A green verification that the host
// ran on this very working tree is not run again.
func (rr *roundRunner) verifyDraft(ctx context.Context) (api.Verification, error) {
	if !runsVerification(rr.req.Verify, rr.config) {
		return rr.tx.verify(ctx, rr.req.Verify, rr.config, true)
	}
	if err := rr.readTree(ctx); err != nil {
		return api.Verification{}, err
	}
	command := rr.req.Verify.Command
	if command == "" {
		command = rr.config.Verify.Command
	}
	if v := rr.tx.status.Verified; v != nil && !v.Claimed && v.Command == command && v.Tree == rr.tree {
		return api.Verification{Outcome: policies.Green, Verification: *v}, nil
	}
	// A review of this tree stays one, whatever becomes of its verification.
	review := rr.tx.status.LatestRun(task.RoleCritic, 0)
	begun, err := rr.recorder.write(ctx, func() error {
		return rr.tx.apply(task.BeginVerification{Same: review != nil && review.Tree == rr.tree}, event.Full{})
	})
	if err != nil {
		return api.Verification{}, err
	}
	since := rr.tx.head.N
	if begun != nil {
		since = begun.N
	}
	v, err := rr.tx.verify(ctx, rr.req.Verify, rr.config, true)
	if err != nil || v.Outcome != policies.Green {
		return v, err
	}
	// Building may change what is not under version control's eye, too.
	if err := rr.readTree(ctx); err != nil {
		return api.Verification{}, err
	}
	v.Tree = rr.tree
	_, err = rr.recorder.write(ctx, func() error {
		newer, err := rr.tx.hasNewerDraft(ctx, since)
		if err == nil && (newer || max(rr.tx.status.Round, 1) != rr.round.Number) {
			err = errLostRace(rr.round.Number, rr.tx.status.State)
		}
		if err != nil {
			return err
		}
		return rr.tx.apply(task.RecordVerification{Verification: v.Verification, InRound: true}, event.Full{Verification: &v})
	})
	return v, err
}

func (rr *roundRunner) readTree(ctx context.Context) (err error) {
	rr.tree, err = rr.tx.treeDigest(ctx, rr.config)
	return err
}
