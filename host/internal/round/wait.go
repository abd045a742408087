package round

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// pollInterval is how often Wait polls. One poll is a few key look-ups.
const pollInterval = 100 * time.Millisecond

// Wait blocks until a task has an event with a number above after. If id is "", it waits for
// any task, and after is a number of the whole ledger. It returns at once if there is such an
// event. A negative after stands for the current latest event.
//
// When it waits for one task, an expired question also counts as a change: Wait records
// the default as the answer, so that there is exactly one event to return for.
//
// # Errors
//
// wait-timeout if ctx's deadline passes first, also during a poll.
func (e *Engine) Wait(ctx context.Context, id string, after int64) error {
	err := e.wait(ctx, id, after)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return errs.New(errs.WaitTimeout, "nothing changed in time")
	}
	return err
}

func (e *Engine) wait(ctx context.Context, id string, after int64) error {
	if id != "" {
		if err := task.CheckID(id); err != nil {
			return err
		}
	}
	l, err := e.project.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		n, err := latestEvent(ctx, l, id)
		switch {
		case err != nil:
			return err
		case after >= 0 && n > after:
			return nil
		case after < 0:
			after = n
		}
		if over, err := e.recordExpired(ctx, l, id); err != nil || over {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// latestEvent returns the number of the latest event of a task, or of the ledger if id is "".
func latestEvent(ctx context.Context, l *ledger.Ledger, id string) (int64, error) {
	if id == "" {
		return l.Last(ctx)
	}
	head, err := l.Head(ctx, id)
	return head.N, err
}

// recordExpired records the default answers to a task's expired questions, and reports
// whether there were any.
func (e *Engine) recordExpired(ctx context.Context, l *ledger.Ledger, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	tx := &tasktx.Tx{Project: e.project, Task: record.Task{Ledger: l, ID: id}}
	if err := tx.Begin(ctx); err != nil {
		return false, err
	}
	at, err := tx.Commit(ctx, nil)
	if errs.CodeOf(err) == errs.LedgerConflict {
		return false, nil // The next poll sees the other command's event.
	}
	return at != nil, err
}
