package core

import (
	"context"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// OpenLedger opens the project's ledger, which the caller must close. A missing ledger reads
// as empty, and its first event creates it.
func (p *Project) OpenLedger(ctx context.Context) (*ledger.Ledger, error) {
	if l := p.homeLedger.Load(); l != nil {
		return l.Lend(), nil
	}
	return ledger.Open(ctx, p.State(), record.Fold)
}

// Append appends events to the ledger with the current time. Every event of the project is
// appended through it.
func (p *Project) Append(ctx context.Context, l *ledger.Ledger, batches ...ledger.Batch) ([]ledger.Event, error) {
	events, err := l.AppendAll(ctx, p.Now(), batches...)
	if err == nil {
		p.recorded.Store(true)
	}
	return events, err
}

// Recorded reports whether any event has been appended; callers use it to decide whether to
// publish metrics again.
func (p *Project) Recorded() bool { return p.recorded.Load() }

// Compact writes the ledger's log into its database, and gives back free space.
func (p *Project) Compact(ctx context.Context) (ledger.Compaction, error) {
	return WithLedger(ctx, p, func(l *ledger.Ledger) (ledger.Compaction, error) { return l.Compact(ctx) })
}

// Archive moves the events of the tasks that are committed, and did not change for some
// time, to the ledger's archive. It refuses a command that an agent runs.
func (p *Project) Archive(ctx context.Context, unchanged time.Duration) (ledger.Archived, error) {
	if err := p.Inside(); err != nil {
		return ledger.Archived{}, err
	}
	return WithLedger(ctx, p, func(l *ledger.Ledger) (ledger.Archived, error) {
		tasks, err := record.Tasks(ctx, l)
		if err != nil {
			return ledger.Archived{}, err
		}
		limit := p.Now().Add(-unchanged)
		var heads []ledger.Head
		for _, t := range tasks {
			if at, err := time.Parse(time.RFC3339, t.UpdatedAt); err == nil && t.Status == task.Committed && at.Before(limit) {
				heads = append(heads, ledger.Head{Task: t.TaskID, N: t.Event})
			}
		}
		return l.Archive(ctx, heads)
	})
}

// HoldHome makes this process the home of the project until release is called: the one
// that decides for the machines of a fleet (ADR-0023). It keeps the ledger open, because
// opening it for each of hundreds of decisions a second costs more than they do.
//
// # Errors
//
// fleet-home-running if another process is its home; errors of the state directory and of
// the ledger.
func (p *Project) HoldHome(ctx context.Context) (release func(), err error) {
	pool, err := p.Leases()
	if err != nil {
		return nil, err
	}
	held, err := pool.Take(ctx, "home", 1, 0)
	switch {
	case errs.CodeOf(err) == errs.SpawnLocked:
		return nil, errs.New(errs.FleetHomeRunning, "another process is the home of %s", p.Root)
	case err != nil:
		return nil, err
	}
	l, err := p.OpenLedger(ctx)
	if err != nil {
		p.Release(held)
		return nil, err
	}
	p.homeLedger.Store(l)
	return func() {
		p.homeLedger.Store(nil)
		_ = l.Close() // All changes were committed before.
		p.Release(held)
	}, nil
}

// OpenTask opens the ledger for a task without loading the task. The caller must close the
// result.
func (p *Project) OpenTask(ctx context.Context, id string) (*record.Task, error) {
	if err := task.CheckID(id); err != nil {
		return nil, err
	}
	l, err := p.OpenLedger(ctx)
	if err != nil {
		return nil, err
	}
	return &record.Task{Ledger: l, ID: id}, nil
}

// ReadTask opens a task and reads its status. The caller must close the result.
//
// # Errors
//
// task-not-found if the ledger has no such task.
func (p *Project) ReadTask(ctx context.Context, id string) (*record.Task, error) {
	r, err := p.OpenTask(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := r.LoadExisting(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// WithLedger calls read with the project's ledger, and returns its result.
func WithLedger[T any](ctx context.Context, p *Project, read func(*ledger.Ledger) (T, error)) (T, error) {
	return With(func() (*ledger.Ledger, error) { return p.OpenLedger(ctx) }, read)
}

// WithTask calls read with a task, and returns its result. It fails with task-not-found if
// the ledger has no such task.
func WithTask[T any](ctx context.Context, p *Project, id string, read func(*record.Task) (T, error)) (T, error) {
	return With(func() (*record.Task, error) { return p.ReadTask(ctx, id) }, read)
}

// With calls read with the result of open, and closes that. It ignores errors of Close,
// since read does not write.
func With[R interface{ Close() error }, T any](open func() (R, error), read func(R) (T, error)) (result T, err error) {
	r, err := open()
	if err != nil {
		return result, err
	}
	defer r.Close()
	return read(r)
}
