package spawns

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// lockTime is how long to wait for a round's lock. A process that holds it longer runs the
// round. A child of a killed process holds it briefly, until it has executed its program.
const lockTime = time.Second

// LockRound prevents other processes from running the same task's round until the lease is
// released.
func LockRound(ctx context.Context, tx *tasktx.Tx) (*lease.Lease, error) {
	pool, err := tx.Project.Leases()
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

// CheckNotRunning ends processes that killed commands left in the project, since they
// would change the input of the decision, and closes the task's runs that were lost with
// them. It fails if another process runs the round: that process decides it.
func CheckNotRunning(ctx context.Context, tx *tasktx.Tx) error {
	if err := RecoverOrphans(ctx, tx.Project); err != nil {
		return err
	}
	if len(tx.Status.OpenRuns()) == 0 {
		return nil
	}
	held, err := LockRound(ctx, tx)
	if err != nil {
		return err
	}
	defer tx.Project.Release(held)
	return LoseRuns(tx, func(task.Run) bool { return true })
}
