package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/policies"
)

// verified finds out how the draft is verified. A green verification that the host
// ran on this very working tree is not run again.
func (c *conductor) verified(ctx context.Context) (Verification, error) {
	if !runsVerification(c.req.Verify, c.config) {
		return c.verification(ctx, c.req.Verify, c.config, true)
	}
	if err := c.lookAtTree(ctx); err != nil {
		return Verification{}, err
	}
	command := c.req.Verify.Command
	if command == "" {
		command = c.config.Verify.Command
	}
	if v := c.status.Verified; v != nil && !v.Claimed && v.Command == command && v.Tree == c.tree {
		return Verification{Outcome: policies.Green, Verification: *v}, nil
	}
	// A review of this tree stays one, whatever becomes of its verification.
	review := c.status.LatestRun(task.RoleCritic, 0)
	begun, err := c.write(ctx, func() error {
		return c.apply(task.BeginVerification{Same: review != nil && review.Tree == c.tree}, event.Full{})
	})
	if err != nil {
		return Verification{}, err
	}
	since := c.head.N
	if begun != nil {
		since = begun.N
	}
	v, err := c.verification(ctx, c.req.Verify, c.config, true)
	if err != nil || v.Outcome != policies.Green {
		return v, err
	}
	// Building may change what is not under version control's eye, too.
	if err := c.lookAtTree(ctx); err != nil {
		return Verification{}, err
	}
	v.Tree = c.tree
	_, err = c.write(ctx, func() error {
		newer, err := c.draftedSince(ctx, since)
		if err == nil && (newer || max(c.status.Round, 1) != c.round.Number) {
			err = lostRace(c.round.Number, c.status.State)
		}
		if err != nil {
			return err
		}
		return c.apply(task.RecordVerification{Verification: v.Verification, InRound: true}, event.Full{Verification: &v})
	})
	return v, err
}

func (c *conductor) lookAtTree(ctx context.Context) (err error) {
	c.tree, err = c.treeNow(ctx, c.config)
	return err
}
