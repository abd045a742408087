package host

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/ledger"
	"github.com/switchyard-dev/switchyard/host/task"
)

// pollInterval is how often a waiting command looks. One look is a few key
// look-ups.
const pollInterval = 100 * time.Millisecond

// Wait blocks until a task has an event after the one that the caller knows, 0
// for none, or, where id is "", until any task has one and after counts the
// ledger's. It returns at once where there is one already. A negative after
// stands for whatever is recorded now.
//
// A question whose time is over is a change too, although nothing is recorded
// before the next command.
//
// # Errors
//
// CodeWaitTimeout where ctx's deadline passes first, also in the middle of a look.
func (e *Engine) Wait(ctx context.Context, id string, after int64) error {
	err := e.wait(ctx, id, after)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fault.New(CodeWaitTimeout, "nothing changed in time")
	}
	return err
}

func (e *Engine) wait(ctx context.Context, id string, after int64) error {
	if id != "" {
		if err := task.CheckID(id); err != nil {
			return err
		}
	}
	l, err := e.ledger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		n, over, err := e.newest(ctx, l, id)
		switch {
		case err != nil:
			return err
		case over || after >= 0 && n > after:
			return nil
		case after < 0:
			after = n
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// newest is the number of the newest event of a task, or of the ledger where id
// is "", and whether the time of one of the task's questions is over.
func (e *Engine) newest(ctx context.Context, l *ledger.Ledger, id string) (n int64, over bool, err error) {
	if id == "" {
		n, err = l.Last(ctx)
		return n, false, err
	}
	head, err := l.Head(ctx, id)
	if err != nil || head.N == 0 {
		return 0, false, err
	}
	s, err := status(head)
	if err != nil {
		return 0, false, err
	}
	event, err := task.Decide(s.State, task.Expire{Now: stamp(e.now())})
	return head.N, event != nil, err
}
