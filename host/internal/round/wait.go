package round

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/event"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// pollInterval is how often a waiting command looks. One look is a few key
// look-ups.
const pollInterval = 100 * time.Millisecond

// Wait blocks until a task has an event after the one that the caller knows, 0
// for none, or, where id is "", until any task has one and after counts the
// ledger's. It returns at once where there is one already. A negative after
// stands for whatever is recorded now.
//
// Where it waits for one task, a question whose time is over is a change too: its
// default is then recorded as the answer, so that there is an event to return for,
// and only one.
//
// # Errors
//
// wait-timeout where ctx's deadline passes first, also in the middle of a look.
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
	l, err := e.OpenLedger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		n, err := e.newest(ctx, l, id)
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

// newest is the number of the newest event of a task, or of the ledger where id
// is "".
func (e *Engine) newest(ctx context.Context, l *ledger.Ledger, id string) (int64, error) {
	if id == "" {
		return l.Last(ctx)
	}
	head, err := l.Head(ctx, id)
	return head.N, err
}

// recordExpired records the answers to a task's questions whose time is over, and reports
// whether there were any.
func (e *Engine) recordExpired(ctx context.Context, l *ledger.Ledger, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	head, err := l.Head(ctx, id)
	if err != nil || head.N == 0 {
		return false, err
	}
	tx, err := status(head)
	if err != nil {
		return false, err
	}
	if due, err := task.Decide(tx.State, task.ExpireQuestions{Now: timestamp(e.now())}); err != nil || due == nil {
		return false, err
	}
	_, event, err := e.update(ctx, id, func(tx *taskTx) (task.Command, event.Full, error) {
		return task.ExpireQuestions{Now: timestamp(tx.engine.now())}, event.Full{By: bySwitchyard}, nil
	})
	return event != nil, err
}
