package spawns

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// lockTime is how long to wait for a task's lock. A process that holds it longer runs the
// task. A child of a killed process holds it briefly, until it has executed its program.
const lockTime = time.Second

// probeTime is how long IsRunning waits for it. The end of a session waits for all tasks.
const probeTime = 100 * time.Millisecond

// LockRun prevents other processes from driving the same task until the lease is released.
// They can still run a round of it.
//
// # Errors
//
// round-running, and errors of leases.
func LockRun(ctx context.Context, p *core.Project, id string) (*lease.Lease, error) {
	held, err := lock(ctx, p, "run", id, lockTime)
	if errs.CodeOf(err) == errs.SpawnLocked {
		return nil, errs.New(errs.RoundRunning, "another process runs task %s", id).With("task", id)
	}
	return held, err
}

// lockRound prevents other processes from running the same task's round until the lease is
// released.
func lockRound(ctx context.Context, tx *tasktx.Tx) (*lease.Lease, error) {
	held, err := lock(ctx, tx.Project, "round", tx.ID, lockTime)
	if errs.CodeOf(err) == errs.SpawnLocked {
		round := max(tx.Status.Round, 1)
		return nil, errs.New(errs.RoundRunning, "another process runs round %d of task %s", round, tx.ID).With("task", tx.ID).With("round", round)
	}
	return held, err
}

// IsRunning reports whether a process runs agents of the task's round. The open runs of a task
// do not show it: those of a killed process stay open until the task's next round.
//
// # Errors
//
// Errors of leases.
func IsRunning(ctx context.Context, p *core.Project, k record.StoredStatus) (bool, error) {
	if len(k.OpenRuns()) == 0 {
		return false, nil
	}
	held, err := lock(ctx, p, "round", k.TaskID, probeTime)
	if errs.CodeOf(err) == errs.SpawnLocked {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	p.Release(held)
	return false, nil
}

func lock(ctx context.Context, p *core.Project, kind, id string, wait time.Duration) (*lease.Lease, error) {
	pool, err := p.Leases()
	if err != nil {
		return nil, err
	}
	held, err := pool.Take(ctx, kind+"-"+digest.Hex(id)[:24], 1, wait)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return held, err
}

// CheckNotRunning ends processes that killed commands left in the project, since they
// would change the input of the decision, and closes the lost runs of the task. It fails if
// another process runs the round: that process decides it.
func CheckNotRunning(ctx context.Context, tx *tasktx.Tx) error {
	if err := RecoverOrphans(ctx, tx.Project); err != nil {
		return err
	}
	if len(tx.Status.OpenRuns()) == 0 {
		return nil
	}
	held, err := lockRound(ctx, tx)
	if err != nil {
		return err
	}
	defer tx.Project.Release(held)
	return LoseRuns(tx, tx.Status.OpenRuns())
}

// spawnsChain is the ledger chain of the spawns outside any task. No task can have its
// name.
const spawnsChain = "_spawns"

// Outside returns a Recorder of spawns outside any task. The caller must close its Tx.
func Outside(ctx context.Context, p *core.Project, config project.Config) (*Recorder, error) {
	l, err := p.OpenLedger(ctx)
	if err != nil {
		return nil, err
	}
	rec := &Recorder{Tx: &tasktx.Tx{Project: p, Task: record.Task{Ledger: l, ID: spawnsChain}}, Config: config}
	if err := rec.Tx.Begin(ctx); err != nil {
		rec.Tx.Close()
		return nil, err
	}
	return rec, nil
}

// RecoverOrphans ends the agents and verifications that killed commands left in the project.
// The runs of a task stay open until its next round.
func RecoverOrphans(ctx context.Context, p *core.Project) error {
	// Most projects have no such directory, and a round should not create it.
	if _, err := os.Lstat(p.LeaseFolder()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	pool, err := p.Leases()
	if err != nil {
		return err
	}
	left, err := pool.Recover(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		p.Warn(err) // Only the lease concerned is blocked.
	}
	left = slices.DeleteFunc(left, func(r lease.Record) bool { return r.Task != "" })
	if len(left) == 0 {
		return nil
	}
	rec, err := Outside(ctx, p, project.Config{})
	if err != nil {
		return err
	}
	defer rec.Tx.Close()
	_, err = rec.Write(ctx, func() error {
		return LoseRuns(rec.Tx, slices.DeleteFunc(rec.Tx.Status.OpenRuns(), func(r task.Run) bool {
			return !slices.ContainsFunc(left, func(l lease.Record) bool { return l.Run == r.Intent.Run })
		}))
	})
	return err
}
