// Package round runs the rounds of a project's tasks. It has the transaction of one task,
// the round with its verification, critic, decision and researchers, and the other commands
// on a task.
package round

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/sandbox"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Options configure an Engine.
type Options struct {
	// Project is the project to work on. Nothing is written before a decision is recorded.
	Project project.Project
	// Plugins configures the plugin runtime; the project's limits replace its limits.
	Plugins plugins.Config
	// Now returns the time of new events.
	Now func() time.Time
	// By is the recorded name of the user or program that runs the commands.
	By string
	// Environ is the environment in the form of os.Environ, from which those of agents and
	// commands derive.
	Environ []string
	// Worktree replaces the recorded paths of tasks' worktrees, unless it is "": an engine
	// that carries out orders has the worktree of one task.
	Worktree string
	// Engine evaluates policies; "" means the default.
	Engine policies.Engine
	// Observe receives the progress of agents, and of verifications, which have no
	// adapter. It may be nil, and may be called concurrently.
	Observe func(spawner.Progress)
	// Warn receives errors that do not fail the command. It may be nil, and may be called
	// concurrently.
	Warn func(error)
}

// Engine runs rounds and answers questions about them. It is safe for concurrent use, and
// several processes may work on one project at the same time.
type Engine struct {
	project    project.Project
	now        func() time.Time
	by         string
	warn       func(error)
	environ    []string
	worktree   string
	observe    func(spawner.Progress)
	supervisor func() (*supervise.Supervisor, error)
	// inside fails if an agent runs this process: see childenv.Inside.
	inside   func() error
	policies *policyset.Set
	plugins  *pluginset.Set
	// sandbox starts confined processes.
	sandbox sandbox.Sandbox
	// trees remembers working trees between their snapshots.
	trees worktree.Cache
	// repo is nil until a request needs it; opening guards it.
	opening sync.Mutex
	repo    *gitrepo.Repo
	// loads tracks loads that outlive a failed request.
	loads sync.WaitGroup
	// saving is locked while a transcript is saved, so that the memory for it does not add
	// up over agents that end at once.
	saving sync.Mutex
	// homeLedger is the ledger that the home of a fleet keeps open, nil for others.
	homeLedger atomic.Pointer[ledger.Ledger]
	// recorded is set once any event has been appended.
	recorded atomic.Bool
}

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine {
	if o.Observe == nil {
		o.Observe = func(spawner.Progress) {}
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	e := &Engine{
		project: o.Project, now: o.Now, by: o.By, warn: o.Warn, environ: o.Environ, worktree: o.Worktree, observe: o.Observe,
		supervisor: sync.OnceValues(supervise.New), inside: sync.OnceValue(func() error { return childenv.Inside(o.Environ) }),
		plugins: pluginset.New(o.Project, o.Plugins),
	}
	e.policies = policyset.New(policyset.Options{
		Project: o.Project, Environ: o.Environ, Now: o.Now, By: o.By,
		Loader: routing.Loader{Released: policies.Files(), Engine: o.Engine, CacheDir: o.Plugins.CacheDir},
		Config: e.Config, Ledger: e.openLedger, Append: e.appendEvents,
	})
	return e
}

// Close releases the engine's resources. No request may run at the same time or follow.
func (e *Engine) Close(ctx context.Context) error {
	e.loads.Wait()
	return e.plugins.Close(ctx)
}

// Policies returns the project's policies.
func (e *Engine) Policies() *policyset.Set { return e.policies }

// Plugins returns the project's plugins.
func (e *Engine) Plugins() *pluginset.Set { return e.plugins }

// Config returns the project's configuration, which the engine reads anew for each
// request.
func (e *Engine) Config(ctx context.Context) (project.Config, error) { return e.plugins.Config(ctx) }

// commandConfig returns the configuration for a command that changes a task. It refuses
// a command that an agent runs.
func (e *Engine) commandConfig(ctx context.Context) (project.Config, error) {
	if err := e.inside(); err != nil {
		return project.Config{}, err
	}
	return e.Config(ctx)
}

// openLedger opens the project's ledger. A missing ledger reads as empty, and its first
// event creates it.
func (e *Engine) openLedger(ctx context.Context) (*ledger.Ledger, error) {
	if l := e.homeLedger.Load(); l != nil {
		return l.Lend(), nil
	}
	return ledger.Open(ctx, e.project.State(), record.Fold)
}

// appendEvents appends events to the ledger with the current time. The engine appends every
// event through it.
func (e *Engine) appendEvents(ctx context.Context, l *ledger.Ledger, batches ...ledger.Batch) ([]ledger.Event, error) {
	events, err := l.AppendAll(ctx, e.now(), batches...)
	if err == nil {
		e.recorded.Store(true)
	}
	return events, err
}

// Recorded reports whether the engine has appended any event; callers use it to decide
// whether to publish metrics again.
func (e *Engine) Recorded() bool { return e.recorded.Load() }

// Events yields every event of the ledger in the order of recording. It ends at the first
// error, with a zero Event.
func (e *Engine) Events(ctx context.Context) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		l, err := e.openLedger(ctx)
		if err != nil {
			yield(ledger.Event{}, err)
			return
		}
		defer l.Close()
		for event, err := range l.EventsSince(ctx, 0) {
			if !yield(event, err) {
				return
			}
		}
	}
}

// Compact writes the ledger's log into its database, and gives back free space.
func (e *Engine) Compact(ctx context.Context) (ledger.Compaction, error) {
	return withLedger(ctx, e, func(l *ledger.Ledger) (ledger.Compaction, error) { return l.Compact(ctx) })
}

// Archive moves the events of the tasks that are committed, and did not change for some
// time, to the ledger's archive. It refuses a command that an agent runs.
func (e *Engine) Archive(ctx context.Context, unchanged time.Duration) (ledger.Archived, error) {
	if err := e.inside(); err != nil {
		return ledger.Archived{}, err
	}
	tasks, err := e.Tasks(ctx)
	if err != nil {
		return ledger.Archived{}, err
	}
	limit := e.now().Add(-unchanged)
	var heads []ledger.Head
	for _, t := range tasks {
		if at, err := time.Parse(time.RFC3339, t.UpdatedAt); err == nil && t.Status == task.Committed && at.Before(limit) {
			heads = append(heads, ledger.Head{Task: t.TaskID, N: t.Event})
		}
	}
	return withLedger(ctx, e, func(l *ledger.Ledger) (ledger.Archived, error) { return l.Archive(ctx, heads) })
}

// rooted returns the project with its root as the current folder.
func (e *Engine) rooted() project.Project { return e.project.AtRoot() }

// UncheckedConfig is Config without a check of plugin names: settings may be those of a
// plugin that another command loads by its file.
func (e *Engine) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return e.plugins.UncheckedConfig(ctx)
}
