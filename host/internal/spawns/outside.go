package spawns

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

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

// RecoverOrphans ends agents and verifications of the whole project whose host was killed.
// The runs of a task stay open until its next round.
func RecoverOrphans(ctx context.Context, p *core.Project) error {
	// Most projects have no such folder, and a round should not create it.
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
	outside := func(r lease.Record) bool { return r.Task == "" }
	if !slices.ContainsFunc(left, outside) {
		return nil
	}
	rec, err := Outside(ctx, p, project.Config{})
	if err != nil {
		return err
	}
	defer rec.Tx.Close()
	return rec.closeLostRuns(ctx, func(r task.Run) bool {
		return slices.ContainsFunc(left, func(l lease.Record) bool { return outside(l) && l.Run == r.Intent.Run })
	})
}
