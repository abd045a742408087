// Package host is the round engine: reports go in, are normalised by plugins,
// merged, routed by the policy and recorded in the ledger, and come out as a
// decision. It is the only package that knows all the rooms.
package host

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// The codes of the engine itself.
const (
	// CodeNoEvidence: there is no report, and nothing is decided on nothing.
	CodeNoEvidence errs.Code = "no-evidence"
	// CodeWrongTask: a report is about another task.
	CodeWrongTask errs.Code = "report-wrong-task"
	// CodeWrongRound: a report is about another round.
	CodeWrongRound errs.Code = "report-wrong-round"
	// CodeDecisionTooLarge: the decision has more bytes than the ledger takes.
	CodeDecisionTooLarge errs.Code = "decision-too-large"
	// CodeForeign: the project's verification command is another user's.
	CodeForeign errs.Code = "config-foreign"
	// CodeNoVerification: a draft has no verification to go by.
	CodeNoVerification errs.Code = "verify-missing"
	// CodeNested: a verification command decides the very task that it verifies.
	CodeNested errs.Code = "verify-nested"
	// CodeWaitTimeout: nothing changed in the time that the caller waited.
	CodeWaitTimeout errs.Code = "wait-timeout"
	// CodeTampered: the ledger holds what we never wrote.
	CodeTampered errs.Code = "ledger-tampered"
	// CodeNotLocked: the project brings a plugin along that switchyard.lock does
	// not pin.
	CodeNotLocked errs.Code = "plugin-not-locked"
	// CodeNothingToLock: the project brings no plugins along.
	CodeNothingToLock errs.Code = "plugin-nothing-to-lock"
	// CodeDigestMismatch: a plugin's file is not the one that switchyard.lock
	// pins.
	CodeDigestMismatch errs.Code = "plugin-digest-mismatch"
	// CodeRoundNotFound: the task has no decision of that round.
	CodeRoundNotFound errs.Code = "round-not-found"
	// CodePolicyChanged: the project goes by another policy than the one that it
	// adopted, and nobody has said that it shall.
	CodePolicyChanged errs.Code = "policy-changed"
	// CodePolicyElsewhere: a policy cannot be adopted, because the project's
	// configuration names another one.
	CodePolicyElsewhere errs.Code = "policy-not-configured"
	// CodePolicyUnnamed: nothing says which policy to adopt after one of the
	// project's own.
	CodePolicyUnnamed errs.Code = "policy-unnamed"
	// CodePolicyLost: a policy that once decided is neither built in nor kept in
	// the ledger.
	CodePolicyLost errs.Code = "policy-lost"
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
	plugins plugins.Config
	now     func() time.Time
	by      string
	warn    func(error)
	environ []string
	engine  policies.Engine
	observe func(spawner.Progress)
	keeper  func() (*supervise.Keeper, error)
	loads   sync.WaitGroup // what is still loading for requests that have failed
	// recorded says that something was.
	recorded atomic.Bool

	mu       sync.Mutex
	stocks   map[project.Limits]*stock
	policies map[string]*policies.Policy // those of the ledger, by digest
}

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine {
	if o.Observe == nil {
		o.Observe = func(spawner.Progress) {}
	}
	return &Engine{
		project: o.Project, plugins: o.Plugins, now: o.Now, by: o.By, warn: o.Warn,
		environ: o.Environ, engine: o.Engine, observe: o.Observe, keeper: sync.OnceValues(supervise.NewKeeper),
		stocks: make(map[project.Limits]*stock), policies: make(map[string]*policies.Policy),
	}
}

// Close releases what the engine holds, once nothing uses it any more. No request
// may be made meanwhile or afterwards.
func (e *Engine) Close(ctx context.Context) error {
	e.loads.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, s := range e.stocks {
		errs = append(errs, s.runtime.Close(ctx))
	}
	return errors.Join(errs...)
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
