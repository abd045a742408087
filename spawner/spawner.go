// Package spawner runs the command lines of coding agents as supervised subprocesses without a
// terminal, and judges the result (ADR-0015).
//
// An agent is a prompt with a name; an adapter describes how to call a CLI and how to read its
// output. A Job names both, with limits for time, tokens and retries:
//
//	s, err := spawner.New(spawner.Options{Root: project, State: filepath.Join(project, ".switchyard"), Environ: os.Environ()})
//	...
//	out, err := s.Run(ctx, spawner.Job{
//		Agent: spawner.Agent{Name: "critic", Body: "You review drafts."}, Adapters: []string{"claude"},
//		Prompt: func(spawner.Attempt) (string, error) { return "Review the draft.", nil },
//		Limits: spawner.Limits{Timeout: 10 * time.Minute, Concurrency: 1},
//	})
//	if last := out.Last(); last != nil && last.Verdict.Good() { ... }
//
// Neither the exit code, nor a success in the output, nor the agent's own claim is enough: the
// verdict is a function of everything that was observed (docs/verdict.md). When Run returns,
// all processes of the agent have ended, but for those of ADR-0015, and each attempt is in the
// run log.
package spawner

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// Options configure a Spawner. Root, State and Environ are required.
type Options struct {
	// Root is the project's root, and Tree the working tree in which agents run: Root if
	// empty.
	Root, Tree string
	// State is the project's state directory, which must exist.
	State string
	// Temp is the directory for the private directories of runs: os.TempDir() if empty.
	Temp string
	// Scope defines which changes of the working tree count.
	Scope worktree.Scope
	// Cache remembers the files of working trees between jobs; nil for a new one.
	Cache *worktree.Cache
	// Supervisor runs the processes; nil for a new one.
	Supervisor *supervise.Supervisor
	// Catalog has the adapters; nil for the embedded ones.
	Catalog *adapter.Catalog
	// Environ is this program's environment, from which the agents' environments are derived.
	Environ []string
	// Confine has the settings for confined agents.
	Confine access.Settings
	// Now is the clock, time.Now if nil. Random returns numbers in [0, 1) to spread
	// retries, math/rand if nil.
	Now    func() time.Time
	Random func() float64
	// Transcript stores an agent's standard output and returns the digest for
	// Record.Transcript, "" if it was not stored. It is called once for each attempt with
	// output, before its record is made durable. It may be nil.
	Transcript func(ctx context.Context, stdout io.Reader) (digest string)
	// Warn receives errors that do not affect a result, such as a failure to delete a
	// private directory. It may be nil.
	Warn func(error)
}

// Spawner runs agents in one project. It is safe for concurrent use, even by several
// processes.
type Spawner struct {
	Options
	pool *lease.Pool
}

// New returns a Spawner, and creates the directory of its leases.
//
// # Errors
//
// spawn-slot-unusable, and process-start if child processes cannot be supervised.
func New(o Options) (*Spawner, error) {
	if o.Tree == "" {
		o.Tree = o.Root
	}
	o.Scope.TaskTree = o.Tree != o.Root
	if o.Temp == "" {
		o.Temp = os.TempDir()
	}
	if o.Supervisor == nil {
		var err error
		if o.Supervisor, err = supervise.New(); err != nil {
			return nil, err
		}
	}
	if o.Cache == nil {
		o.Cache = &worktree.Cache{}
	}
	if o.Catalog == nil {
		o.Catalog = adapter.NewCatalog()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	pool, err := lease.Open(filepath.Join(o.State, lease.Folder), o.Temp, o.Supervisor)
	if err != nil {
		return nil, err
	}
	return &Spawner{Options: o, pool: pool}, nil
}

func (s *Spawner) warn(err error) {
	if err != nil && s.Warn != nil {
		s.Warn(err)
	}
}

// errFolder returns the error for a run's private directory, or nil without err. It omits the
// path, which does not help the user.
func errFolder(err error) error {
	if err == nil {
		return nil
	}
	return errs.New(errs.SpawnFolderFailed, "the run's private directory cannot be used: %w", safefile.Reason(err))
}
