package round

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// lockTime is how long to wait for a round's lock. A process that holds it longer runs the
// round. A child of a killed process holds it briefly, until it has executed its program.
const lockTime = time.Second

// lockRound prevents other processes from running the same task's round until the lease is
// released.
func (tx *taskTx) lockRound(ctx context.Context) (*lease.Lease, error) {
	pool, err := tx.engine.project.Leases()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(tx.ID))
	held, err := pool.Take(ctx, fmt.Sprintf("task-%x", sum[:12]), 1, lockTime)
	switch {
	case err == nil:
		return held, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errs.CodeOf(err) == errs.SpawnLocked:
		round := max(tx.Status.Round, 1)
		return nil, errs.New(errs.RoundRunning, "another process runs round %d of task %s", round, tx.ID).With("task", tx.ID).With("round", round)
	}
	return nil, err
}

// checkNotRunning ends processes that killed commands left in the project, since they
// would change the input of the decision, and closes the task's runs that were lost with
// them. It fails if another process runs the round: that process decides it.
func (tx *taskTx) checkNotRunning(ctx context.Context) error {
	if err := tx.engine.recoverOrphans(ctx); err != nil {
		return err
	}
	if len(tx.Status.OpenRuns()) == 0 {
		return nil
	}
	held, err := tx.lockRound(ctx)
	if err != nil {
		return err
	}
	defer tx.engine.project.Release(held)
	return tx.loseRuns(func(task.Run) bool { return true })
}
