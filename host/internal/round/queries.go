package round

import (
	"cmp"
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
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return record.Tasks(ctx, l)
}

// Findings lists the findings that the review of a round, or the latest one if round is 0,
// left open, or those that are deferred after it.
//
// # Errors
//
// task-not-found, round-not-found, ledger-tampered, and the ledger's codes.
func (e *Engine) Findings(ctx context.Context, id string, round int, deferred bool) (api.FindingList, error) {
	r, err := e.readTask(ctx, id)
	if err != nil {
		return api.FindingList{}, err
	}
	defer r.Close()
	return r.Findings(ctx, round, deferred)
}

// Attestations lists every attestation of a task, oldest first.
func (e *Engine) Attestations(ctx context.Context, id string) ([]api.AttestationEntry, error) {
	r, err := e.readTask(ctx, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Attestations(ctx)
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
	l, err := e.openLedger(ctx)
	if err != nil {
		return api.Summary{}, err
	}
	defer l.Close()
	return record.Summarize(ctx, l, cmp.Or(config.MaxRounds, task.DefaultRounds))
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
	l, err := e.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return record.CriticFailures(ctx, l, ids)
}

// Counters reads counters of the project's ledger as of one moment. It opens the ledger
// each time, so that a long-running caller sees a replaced ledger.
func (e *Engine) Counters(ctx context.Context, queries ...ledger.CounterQuery) (ledger.Counters, error) {
	// Read-only, unless the ledger is too old to have counters.
	t, err := readCounters(ctx, func() (*ledger.Ledger, error) { return ledger.Open(ctx, e.project.State(), nil) }, queries)
	if errs.CodeOf(err) == errs.LedgerOlder {
		return readCounters(ctx, func() (*ledger.Ledger, error) { return e.openLedger(ctx) }, queries)
	}
	return t, err
}

func readCounters(ctx context.Context, open func() (*ledger.Ledger, error), queries []ledger.CounterQuery) (ledger.Counters, error) {
	l, err := open()
	if err != nil {
		return ledger.Counters{}, err
	}
	defer l.Close()
	return l.Counters(ctx, queries...)
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
