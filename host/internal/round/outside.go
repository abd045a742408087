package round

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// spawnsChain is the chain of the ledger that has the spawns outside any task. No
// task has its name.
const spawnsChain = "_spawns"

// spawns is the spawnRecorder of the spawns outside any task. The caller must close it.
func (e *Engine) adHocRecorder(ctx context.Context, config project.Config) (*spawnRecorder, error) {
	l, err := e.OpenLedger(ctx)
	if err != nil {
		return nil, err
	}
	rec := &spawnRecorder{tx: &taskTx{engine: e, id: spawnsChain, ledger: l}, config: config}
	if err := rec.tx.begin(ctx); err != nil {
		rec.tx.close()
		return nil, err
	}
	return rec, nil
}

// recovered ends what is left of agents and verifications whose host was killed, in
// the whole project. The runs of a task stay open until its next round.
func (e *Engine) recoverOrphans(ctx context.Context) error {
	// Most projects have nothing there, and a round shall make no folder for that.
	if _, err := os.Lstat(e.runFolder()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	rack, err := e.leasePool()
	if err != nil {
		return err
	}
	left, err := rack.Recover(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		e.warn(err) // It is in nobody's way but its own slot's.
	}
	outside := func(r lease.Record) bool { return r.Task == "" }
	if !slices.ContainsFunc(left, outside) {
		return nil
	}
	rec, err := e.adHocRecorder(ctx, project.Config{})
	if err != nil {
		return err
	}
	defer rec.tx.close()
	return rec.closeLostRuns(ctx, func(r task.Run) bool {
		return slices.ContainsFunc(left, func(l lease.Record) bool { return outside(l) && l.Run == r.Intent.Run })
	})
}
