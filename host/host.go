// Package host is the round engine: reports go in, are normalised by plugins,
// merged, routed by the policy and recorded in the ledger, and come out as a
// decision. It is the only package that knows all the rooms.
package host

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// The codes of the engine itself.
const (
	// CodeNoEvidence: there is no report, and nothing is decided on nothing.
	CodeNoEvidence fault.Code = "no-evidence"
	// CodeWrongTask: a report is about another task.
	CodeWrongTask fault.Code = "report-wrong-task"
	// CodeWrongRound: a report is about another round.
	CodeWrongRound fault.Code = "report-wrong-round"
	// CodeDecisionTooLarge: the decision has more bytes than the ledger takes.
	CodeDecisionTooLarge fault.Code = "decision-too-large"
	// CodeTaskNotFound: nothing was ever recorded for the task.
	CodeTaskNotFound fault.Code = "task-not-found"
	// CodeTampered: the ledger holds what we never wrote.
	CodeTampered fault.Code = "ledger-tampered"
	// CodeRoundNotFound: the task has no decision of that round.
	CodeRoundNotFound fault.Code = "round-not-found"
)

// Options are what an Engine works with.
type Options struct {
	// Project is where it works. Nothing is written before a decision is
	// recorded.
	Project project.Project
	// Plugins says how guests run.
	Plugins plugins.Config
	// Now is the clock that stamps events.
	Now func() time.Time
}

// Engine runs rounds and answers questions about them. It is safe for
// concurrent use, and any number of engines in any number of processes may work
// on one project.
type Engine struct {
	project project.Project
	runtime *plugins.Runtime
	catalog *plugins.Catalog
	now     func() time.Time
	loads   sync.WaitGroup // what is still loading for requests that have failed
}

// New returns an Engine. It does no work; the caller must Close it.
func New(o Options) *Engine {
	runtime := plugins.New(o.Plugins)
	return &Engine{project: o.Project, runtime: runtime, catalog: plugins.NewCatalog(runtime), now: o.Now}
}

// Close releases what the engine holds, once nothing uses it any more. No request
// may be made meanwhile or afterwards.
func (e *Engine) Close(ctx context.Context) error {
	e.loads.Wait()
	return e.runtime.Close(ctx)
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
