// Package host is the round engine: reports go in, are normalised by plugins,
// merged, routed by the policy and recorded in the ledger, and come out as a
// decision. It is the only package that knows all the rooms.
package host

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/pluginset"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// The special values of a ReportRef: Auto stands for the one plugin that recognises the
// report, and Stdin for standard input.
const (
	Auto  = api.Auto
	Stdin = api.Stdin
)

// Options are what an Engine works with.
type Options struct {
	// Project is where it works. Nothing is written before a decision is
	// recorded.
	Project project.Project
	// Plugins says how guests run; their limits are the project's.
	Plugins plugins.Config
	// Now is the clock that stamps events.
	Now func() time.Time
	// By is who gives the commands, as it is recorded.
	By string
	// Environ is the environment that agents' own is taken from, as os.Environ has
	// it.
	Environ []string
	// Engine evaluates policies, "" for the usual one.
	Engine policies.Engine
	// Observe is told how spawned agents go, and verifications, which have no adapter;
	// it may be nil. It may be called by several goroutines at once.
	Observe func(spawner.Progress)
	// Warn is told what went wrong beside the work, which was done. It may be
	// called by several goroutines at once.
	Warn func(error)
}

// Engine runs rounds and answers questions about them. It is safe for
// concurrent use, and any number of engines in any number of processes may work
// on one project.
type Engine struct {
	project project.Project
	now     func() time.Time
	by      string
	warn    func(error)
	environ []string
	observe func(spawner.Progress)
	keeper  func() (*supervise.Supervisor, error)
	loads   sync.WaitGroup // what is still loading for requests that have failed
	// recorded says that something was.
	recorded atomic.Bool

	policies *policyset.Set
	plugins  *pluginset.Set
}

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine {
	if o.Observe == nil {
		o.Observe = func(spawner.Progress) {}
	}
	e := &Engine{
		project: o.Project, now: o.Now, by: o.By, warn: o.Warn,
		environ: o.Environ, observe: o.Observe, keeper: sync.OnceValues(supervise.New),
		plugins: pluginset.New(o.Project, o.Plugins),
	}
	e.policies = policyset.New(policyset.Options{
		Project: o.Project, Environ: o.Environ, Now: o.Now, By: o.By,
		Loader: routing.Loader{Released: policies.Files(), Engine: o.Engine, CacheDir: o.Plugins.CacheDir},
		Config: e.Config, Ledger: e.ledger, Append: e.store,
	})
	return e
}

// Policies returns the policies of the project.
func (e *Engine) Policies() *policyset.Set { return e.policies }

// Plugins returns the plugins of the project.
func (e *Engine) Plugins() *pluginset.Set { return e.plugins }

// Config returns the project's configuration. The engine reads it anew for every
// request.
//
// # Errors
//
// Those of project.Project.Config.
func (e *Engine) Config(ctx context.Context) (project.Config, error) { return e.plugins.Config(ctx) }

// UncheckedConfig is Config without a check of the plugins' names: the settings may be
// those of a plugin that another command gets by its file.
func (e *Engine) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return e.plugins.UncheckedConfig(ctx)
}

// rooted is the project as its own files see it.
func (e *Engine) rooted() project.Project { return e.project.AtRoot() }

// isChain reports whether a chain of the ledger is not a task's.
func isChain(name string) bool { return strings.HasPrefix(name, "_") }

// Close releases what the engine holds, once nothing uses it any more. No request
// may be made meanwhile or afterwards.
func (e *Engine) Close(ctx context.Context) error {
	e.loads.Wait()
	return e.plugins.Close(ctx)
}

// Verify checks every chain of the project's ledger.
func (e *Engine) Verify(ctx context.Context) (ledger.Report, error) {
	l, err := e.ledger(ctx)
	if err != nil {
		return ledger.Report{}, err
	}
	defer l.Close()
	return l.Verify(ctx)
}

// Events yields every event of the project's ledger in the order of recording.
// An error ends it, with a zero Event.
func (e *Engine) Events(ctx context.Context) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		l, err := e.ledger(ctx)
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
