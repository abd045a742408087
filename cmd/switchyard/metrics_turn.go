package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/spawner"
)

// pushSlot is the slot that a push holds from gathering to the answer. It is no
// agent's.
const pushSlot = "metrics-push"

// pushTurn lets one process at a time push the metrics of a project: what one has
// gathered must not arrive after what another has gathered later.
func pushTurn(p project.Project) func(context.Context) (done func(), err error) {
	return func(ctx context.Context) (func(), error) {
		rack, err := lease.Open(filepath.Join(p.State(), spawner.RunFolder), os.TempDir(), nobody{})
		if errors.Is(err, fs.ErrNotExist) {
			return func() {}, nil // Nothing was ever recorded, so that all push the same.
		}
		var s *lease.Lease
		if err == nil {
			s, err = rack.Take(ctx, pushSlot, 1, true)
		}
		if errs.CodeOf(err) == errs.SpawnSlotUnusable {
			// No agent has to do with it.
			return nil, errs.New(errs.StateUnwritable, "pushes cannot take turns: %s", err).With("path", p.State())
		}
		if err != nil {
			return nil, err
		}
		return func() { _ = s.Release() }, nil
	}
}

// nobody sweeps up after pushes: they leave no processes.
type nobody struct{}

func (nobody) Sweep(context.Context, supervise.Identity, time.Duration) (int, error) { return 0, nil }
