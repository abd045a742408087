package round

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
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
	pool, err := tx.engine.leasePool()
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

// HoldHome makes this process the home of the project until release is called: the one
// that decides for the machines of a fleet (ADR-0023). It keeps the ledger open, because
// opening it for each of hundreds of decisions a second costs more than they do.
//
// # Errors
//
// fleet-home-running if another process is its home; those of the state directory and of the
// ledger.
func (e *Engine) HoldHome(ctx context.Context) (release func(), err error) {
	pool, err := e.leasePool()
	if err != nil {
		return nil, err
	}
	held, err := pool.Take(ctx, "home", 1, 0)
	switch {
	case errs.CodeOf(err) == errs.SpawnLocked:
		return nil, errs.New(errs.FleetHomeRunning, "another process is the home of %s", e.project.Root)
	case err != nil:
		return nil, err
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		e.release(held)
		return nil, err
	}
	e.homeLedger.Store(l)
	return func() {
		e.homeLedger.Store(nil)
		_ = l.Close() // All changes were committed before.
		e.release(held)
	}, nil
}

// leasePool returns the project's leases: those of agents, verifications and tasks whose
// rounds are running.
func (e *Engine) leasePool() (*lease.Pool, error) {
	keeper, err := e.supervisor()
	if err != nil {
		return nil, err
	}
	state, err := e.openState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	return lease.Open(e.runFolder(), os.TempDir(), keeper)
}

func (e *Engine) runFolder() string { return filepath.Join(e.project.State(), lease.Folder) }

func (e *Engine) release(held *lease.Lease) {
	if err := held.Release(); err != nil {
		e.warn(err) // The next process that takes the lease cleans up.
	}
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
	defer tx.engine.release(held)
	return tx.loseRuns(func(task.Run) bool { return true })
}
