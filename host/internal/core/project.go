// Package core opens a project for commands: its configuration, policies, plugins and
// ledger, its repository, and the files of its state directory.
package core

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/worktree"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// Options configure a Project.
type Options struct {
	// Project is the project to work on. Its state directory is created once it is needed.
	Project project.Project
	// Plugins configures the plugin runtime. Its limits are for what the project does not limit
	// itself.
	Plugins plugins.Config
	// Now returns the time of new events.
	Now func() time.Time
	// By is the recorded name of the user or program that runs the commands.
	By string
	// Environ is the environment in the form of os.Environ, from which the environments of
	// agents and commands derive.
	Environ []string
	// Worktree replaces the recorded paths of tasks' worktrees, unless it is "": an engine
	// that carries out orders has the worktree of one task.
	Worktree string
	// Engine evaluates policies; "" means the default.
	Engine policies.Engine
	// Observe receives the progress of agents, and of verifications and commands for reports,
	// which have no adapter. It may be nil, and may be called concurrently.
	Observe func(spawner.Progress)
	// Warn receives errors that do not fail the command. It may be nil, and may be called
	// concurrently.
	Warn func(error)
}

// Project is a project that commands work on. It is safe for concurrent use, and several
// processes may work on one project at the same time. Its fields must not change once it is
// used.
type Project struct {
	project.Project
	// Options has an Observe and a Warn, which are never nil.
	Options
	// Supervisor returns the supervisor of child processes, always the same one.
	Supervisor func() (*supervise.Supervisor, error)
	// Inside fails if an agent runs this process: see childenv.Inside.
	Inside func() error
	// Trees remembers working trees between their snapshots.
	Trees worktree.Cache

	policies *policyset.Set
	plugins  *pluginset.Set
	// repo is nil until a request needs it; opening guards it.
	opening sync.Mutex
	repo    *gitrepo.Repo
	// saving is locked while a transcript is saved, so that the memory for it does not add
	// up over agents that end at once.
	saving sync.Mutex
	// background tracks the work that outlives a failed request.
	background sync.WaitGroup
	// homeLedger is the ledger that the home of a fleet keeps open, nil for others.
	homeLedger atomic.Pointer[ledger.Ledger]
	// recorded is set once any event has been appended.
	recorded atomic.Bool
}

// New returns a Project. It does no work; the caller must Close it.
func New(o Options) *Project {
	if o.Observe == nil {
		o.Observe = func(spawner.Progress) {}
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	p := &Project{
		Project: o.Project, Options: o,
		Supervisor: sync.OnceValues(supervise.New), Inside: sync.OnceValue(func() error { return childenv.Inside(o.Environ) }),
		plugins: pluginset.New(o.Project, o.Plugins),
	}
	p.policies = policyset.New(policyset.Options{
		Project: o.Project, Environ: o.Environ, Now: o.Now, By: o.By,
		Loader: routing.Loader{Released: policies.Files(), Engine: o.Engine, CacheDir: o.Plugins.CacheDir},
		Config: p.Config, Ledger: p.OpenLedger, Append: p.Append,
	})
	return p
}

// Copy returns a copy of the project in another directory, which shares the plugins and the
// supervisor of p. The caller must not close it, and must not use it after p is closed.
func (p *Project) Copy(root string) *Project {
	o := p.Options
	o.Project, o.Environ, o.Worktree = project.Project{Root: root, Dir: root}, gitrepo.WithoutRepository(p.Environ), ""
	c := New(o)
	c.plugins, c.Supervisor = p.plugins, p.Supervisor
	return c
}

// Close waits for work in the background, and releases the project's resources. No request
// may run at the same time or follow.
func (p *Project) Close(ctx context.Context) error {
	p.background.Wait()
	return p.plugins.Close(ctx)
}

// Background runs f, for which Close waits: f may outlive the request that needs it.
func (p *Project) Background(f func()) { p.background.Go(f) }

// Policies returns the project's policies.
func (p *Project) Policies() *policyset.Set { return p.policies }

// Plugins returns the project's plugins.
func (p *Project) Plugins() *pluginset.Set { return p.plugins }

// Config returns the project's configuration, which is read anew for each request.
func (p *Project) Config(ctx context.Context) (project.Config, error) { return p.plugins.Config(ctx) }

// UncheckedConfig is Config without a check of plugin names: settings may belong to a plugin
// that another command loads by its file.
func (p *Project) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return p.plugins.UncheckedConfig(ctx)
}
