package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/spawner"
	"github.com/switchyard-dev/switchyard/spawner/process"
	"github.com/switchyard-dev/switchyard/spawner/slot"
)

// pushSlot is the slot that a push holds from gathering to the answer. It is no
// agent's.
const pushSlot = "metrics-push"

// pushTurn lets one process at a time push the metrics of a project: what one has
// gathered must not arrive after what another has gathered later.
func pushTurn(p project.Project) func(context.Context) (done func(), err error) {
	return func(ctx context.Context) (func(), error) {
		rack, err := slot.Open(filepath.Join(p.State(), spawner.RunFolder), os.TempDir(), nobody{})
		if errors.Is(err, fs.ErrNotExist) {
			return func() {}, nil // Nothing was ever recorded, so that all push the same.
		}
		var s *slot.Slot
		if err == nil {
			s, err = rack.Take(ctx, pushSlot, 1, true)
		}
		if fault.CodeOf(err) == slot.CodeUnusable {
			// No agent has to do with it.
			return nil, fault.New(ledger.CodeUnwritable, "pushes cannot take turns: %s", err).With("path", p.State())
		}
		if err != nil {
			return nil, err
		}
		return func() { _ = s.Release() }, nil
	}
}

// nobody sweeps up after pushes: they leave no processes.
type nobody struct{}

func (nobody) Sweep(context.Context, process.Identity, time.Duration) (int, error) { return 0, nil }
