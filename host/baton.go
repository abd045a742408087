package host

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/spawner"
	"github.com/switchyard-dev/switchyard/spawner/slot"
)

// CodeRunning: another process runs the task's round.
const CodeRunning fault.Code = "round-running"

// alone keeps other processes from running the same task's round.
func (c *conductor) alone(ctx context.Context) (release func(), err error) {
	release, err = c.Hold(ctx, baton(c.id))
	if fault.CodeOf(err) == slot.CodeTaken {
		err = c.underWay()
	}
	return release, err
}

// baton is the name of what a process holds that runs a task's round.
func baton(id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("task-%x", sum[:12])
}

func (s *session) underWay() error {
	round := max(s.status.Round, 1)
	return fault.New(CodeRunning, "another process runs round %d of task %s", round, s.id).With("task", s.id).With("round", round)
}

// undisturbed refuses to decide a round that another process runs: whoever has its
// agents work for it shall decide it, and not one of these.
func (s *session) undisturbed(ctx context.Context) error {
	if len(s.status.Open()) == 0 {
		return nil
	}
	keeper, err := s.keeper()
	if err != nil {
		return err
	}
	rack, err := slot.Open(filepath.Join(s.project.State(), spawner.RunFolder), os.TempDir(), keeper)
	if err != nil {
		return err
	}
	held, err := rack.Take(ctx, baton(s.id), 1, false)
	if fault.CodeOf(err) == slot.CodeTaken {
		return s.underWay()
	}
	if err != nil {
		return err
	}
	return held.Release()
}
