// Package spawner runs agent CLIs headless, as well-kept subprocesses, and judges
// what became of them (design section 7, ADR-0015).
//
// Nothing that an agent says of itself counts alone: neither its exit code, nor a
// field that says success, nor its final message. The verdict is one function of
// all that was seen (package verdict), and a contradiction is a failure.
//
// The parts, each of which knows nothing of the others: agents' definitions
// (agent), their CLIs as data (adapter), one child process (process), its
// environment (environ), what must not be stored (redact), where it may read and
// write (place), how many at once (slot), what changed in the working tree (tree).
// This package makes one spawn of them.
package spawner

import (
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// RunFolder is the folder of the slots in the state folder.
const RunFolder = "run"

// Options are what a Spawner works with. All fields but Scope are needed.
type Options struct {
	// Root is the project's root, in which agents run, and State the folder of its
	// state, which must be there.
	Root, State string
	// Temp is the folder that private folders are made in.
	Temp string
	// Scope says which files change without an agent's doing, and which ones count
	// whatever git says.
	Scope worktree.Scope
	// Supervisor runs the processes.
	Supervisor *supervise.Supervisor
	// Catalog has the adapters.
	Catalog *adapter.Catalog
	// Environ is this program's environment.
	Environ []string
	// Now is the clock, and Random a source of numbers from 0 up to 1 that spreads
	// retries.
	Now    func() time.Time
	Random func() float64
	// Warn is told what went wrong beside the work, which was done.
	Warn func(error)
}

// Spawner runs agents in one project. It is safe for concurrent use, and any
// number of them in any number of processes may work on one project.
type Spawner struct {
	Options
	pool *lease.Pool
}

// New returns a Spawner, and makes the folder of its slots.
//
// # Errors
//
// spawn-slot-unusable.
func New(o Options) (*Spawner, error) {
	rack, err := lease.Open(filepath.Join(o.State, RunFolder), o.Temp, o.Supervisor)
	if err != nil {
		return nil, err
	}
	return &Spawner{Options: o, pool: rack}, nil
}

// warn tells of an error that changes nothing any more.
func (s *Spawner) warn(err error) {
	if err != nil {
		s.Warn(err)
	}
}

// errFolder is the error of a private folder.
func errFolder(err error) error {
	if err == nil {
		return nil
	}
	return errs.New(errs.SpawnFolderFailed, "the run's private folder cannot be used: %w", safefile.Reason(err)) // Its path is of no use to anybody.
}
