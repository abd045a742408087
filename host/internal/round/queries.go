package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Task returns the status of one task, or task-not-found.
func (e *Engine) Task(ctx context.Context, id string) (api.TaskDetail, error) {
	r, err := e.readTask(ctx, id)
	if err != nil {
		return api.TaskDetail{}, err
	}
	defer r.Close()
	t := api.TaskDetail{TaskStatus: r.Status.Public(), Handoff: e.currentHandoff(r.Status)}
	if t.Sessions, err = r.SessionBlock(ctx); err != nil {
		return api.TaskDetail{}, err
	}
	body, err := r.FindingsEvent(ctx)
	d := body.DecisionOrZero()
	t.Findings, t.Deferred = append(body.Findings, d.Findings...), d.Deferred
	return t, err
}

// currentHandoff returns the file with the executor's instructions for the task's round, nil
// for none.
func (e *Engine) currentHandoff(now record.StoredStatus) *string {
	path := handoffPath(now.TaskID, now.Round, findingsFile)
	if now.Status == task.Open && now.Last != nil && now.Last.NextRound == now.Round && e.rooted().Exists(path) {
		return &path
	}
	return nil
}

// Tasks lists every task of the project by id.
func (e *Engine) Tasks(ctx context.Context) ([]api.TaskStatus, error) {
	return withLedger(ctx, e, func(l *ledger.Ledger) ([]api.TaskStatus, error) { return record.Tasks(ctx, l) })
}

// Findings lists the findings that the review of a round, or the latest one if round is 0,
// left open, or those that are deferred after it.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (e *Engine) Findings(ctx context.Context, id string, round int, deferred bool) (api.FindingList, error) {
	return withTask(ctx, e, id, func(r *record.Task) (api.FindingList, error) { return r.Findings(ctx, round, deferred) })
}

// Attestations lists every attestation of a task, oldest first.
func (e *Engine) Attestations(ctx context.Context, id string) ([]api.AttestationEntry, error) {
	return withTask(ctx, e, id, func(r *record.Task) ([]api.AttestationEntry, error) { return r.Attestations(ctx) })
}

// Summary summarizes the project's tasks. A task that cannot be read is skipped and listed.
//
// # Errors
//
// Those of the configuration and of the ledger.
func (e *Engine) Summary(ctx context.Context) (api.Summary, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return api.Summary{}, err
	}
	return withLedger(ctx, e, func(l *ledger.Ledger) (api.Summary, error) {
		return record.Summarize(ctx, l, config.MaxRounds)
	})
}

// CriticFailures returns, by task id, the reason why the critic's last run failed, for
// those tasks that are stuck because of it.
//
// # Errors
//
// Those of the ledger.
func (e *Engine) CriticFailures(ctx context.Context, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return map[string]string{}, nil
	}
	return withLedger(ctx, e, func(l *ledger.Ledger) (map[string]string, error) { return record.CriticFailures(ctx, l, ids) })
}

// Counters reads counters of the project's ledger as of one moment. It opens the ledger
// each time, so that a long-running caller sees a replaced ledger.
func (e *Engine) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	// Read-only, unless the ledger is too old to have counters.
	open := func() (*ledger.Ledger, error) { return ledger.Open(ctx, e.project.State(), nil) }
	read := func(l *ledger.Ledger) (ledger.Counters, error) { return l.Counters(ctx, queries...) }
	all, err := reading(open, read)
	if errs.CodeOf(err) == errs.LedgerOlder {
		return withLedger(ctx, e, read)
	}
	return all, err
}

// withLedger returns what read reads of the project's ledger.
func withLedger[T any](ctx context.Context, e *Engine, read func(*ledger.Ledger) (T, error)) (T, error) {
	return reading(func() (*ledger.Ledger, error) { return e.openLedger(ctx) }, read)
}

// withTask returns what read reads of a task. It fails with task-not-found if the ledger
// has no such task.
func withTask[T any](ctx context.Context, e *Engine, id string, read func(*record.Task) (T, error)) (T, error) {
	return reading(func() (*record.Task, error) { return e.readTask(ctx, id) }, read)
}

// reading calls read with what open opens, and closes that. Nothing was written to it, so
// that closing it loses nothing.
func reading[R interface{ Close() error }, T any](open func() (R, error), read func(R) (T, error)) (result T, err error) {
	r, err := open()
	if err != nil {
		return result, err
	}
	defer r.Close()
	return read(r)
}

// openTask opens the ledger to read about a task, and reads nothing. The caller must close
// the result.
func (e *Engine) openTask(ctx context.Context, id string) (*record.Task, error) {
	if err := task.CheckID(id); err != nil {
		return nil, err
	}
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	return &record.Task{Ledger: l, ID: id}, nil
}

// readTask opens a task and reads its status. The caller must close the result.
//
// # Errors
//
// task-not-found if the ledger has no such task.
func (e *Engine) readTask(ctx context.Context, id string) (*record.Task, error) {
	r, err := e.openTask(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := r.LoadExisting(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}
