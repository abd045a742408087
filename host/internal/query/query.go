// Package query answers questions about a project without changing it: the status of its
// tasks, the reasons for decisions, the reviews of commits, and the agents that can run.
package query

import (
	"context"
	"errors"
	"iter"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/handoff"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// Reader answers questions about a project. It is safe for concurrent use.
type Reader struct{ project *core.Project }

// New returns a Reader of p, which the caller closes after it.
func New(p *core.Project) *Reader { return &Reader{p} }

// Task returns the status of one task, or task-not-found.
func (q *Reader) Task(ctx context.Context, id string) (api.TaskDetail, error) {
	r, err := q.project.ReadTask(ctx, id)
	if err != nil {
		return api.TaskDetail{}, err
	}
	defer r.Close()
	t := api.TaskDetail{TaskStatus: r.Status.Public(), Handoff: handoff.Current(q.project, r.Status)}
	if t.Sessions, err = r.SessionBlock(ctx); err != nil {
		return api.TaskDetail{}, err
	}
	body, err := r.FindingsEvent(ctx)
	d := body.DecisionOrZero()
	t.Findings, t.Deferred = append(body.Findings, d.Findings...), d.Deferred
	return t, err
}

// Tasks lists every task of the project by id.
func (q *Reader) Tasks(ctx context.Context) ([]api.TaskStatus, error) {
	return core.WithLedger(ctx, q.project, func(l *ledger.Ledger) ([]api.TaskStatus, error) { return record.Tasks(ctx, l) })
}

// Findings lists the findings that the review of a round, or the latest one if round is 0,
// left open or, if deferred is set, the findings that are deferred after it.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (q *Reader) Findings(ctx context.Context, id string, round int, deferred bool) (api.FindingList, error) {
	return core.WithTask(ctx, q.project, id, func(r *record.Task) (api.FindingList, error) { return r.Findings(ctx, round, deferred) })
}

// Attestations lists every attestation of a task, oldest first.
func (q *Reader) Attestations(ctx context.Context, id string) ([]api.AttestationEntry, error) {
	return core.WithTask(ctx, q.project, id, func(r *record.Task) ([]api.AttestationEntry, error) { return r.Attestations(ctx) })
}

// Summary summarizes the project's tasks. A task that cannot be read is skipped and listed.
func (q *Reader) Summary(ctx context.Context) (api.Summary, error) {
	config, err := q.project.Config(ctx)
	if err != nil {
		return api.Summary{}, err
	}
	return core.WithLedger(ctx, q.project, func(l *ledger.Ledger) (api.Summary, error) {
		return record.Summarize(ctx, l, config.MaxRounds)
	})
}

// CriticFailures returns, by task id, the reason why the critic's last run failed, if the
// task is stuck because of that.
func (q *Reader) CriticFailures(ctx context.Context, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return map[string]string{}, nil
	}
	return core.WithLedger(ctx, q.project, func(l *ledger.Ledger) (map[string]string, error) { return record.CriticFailures(ctx, l, ids) })
}

// Counters reads counters of the project's ledger as of one moment. It opens the ledger
// each time, so that a long-running caller sees a replaced ledger.
func (q *Reader) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	// Read-only, unless the ledger is too old to have counters.
	open := func() (*ledger.Ledger, error) { return ledger.Open(ctx, q.project.State(), nil) }
	read := func(l *ledger.Ledger) (ledger.Counters, error) { return l.Counters(ctx, queries...) }
	all, err := core.With(open, read)
	if errors.Is(err, ledger.ErrUncounted) {
		return core.WithLedger(ctx, q.project, read)
	}
	return all, err
}

// Events yields every event of the ledger in the order of recording. It ends at the first
// error, with a zero Event.
func (q *Reader) Events(ctx context.Context) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		l, err := q.project.OpenLedger(ctx)
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
