package host

import (
	"context"
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/task"
)

// pollInterval is how often a waiting command looks. One look is a few key
// look-ups.
const pollInterval = 100 * time.Millisecond

// Wait blocks until a task has an event after the one that the caller knows, 0
// for none, or, where id is "", until any task has one and after counts the
// ledger's. It returns at once where there is one already. A negative after
// stands for whatever is newest now.
//
// A question whose time is over is a change too, although nothing is recorded
// before the next command.
//
// # Errors
//
// CodeWaitTimeout where ctx's deadline passes first.
func (e *Engine) Wait(ctx context.Context, id string, after int64) error {
	l, err := e.ledger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	newest := func() (int64, error) {
		if id == "" {
			return l.Last(ctx)
		}
		head, err := l.Head(ctx, id)
		if err != nil || head.N == 0 {
			return 0, err
		}
		s, err := status(head)
		if err != nil {
			return 0, err
		}
		if event, err := task.Decide(s.State, task.Expire{Now: stamp(e.now())}); err == nil && event != nil {
			return head.N + 1, nil
		}
		return head.N, nil
	}
	if after < 0 {
		if after, err = newest(); err != nil {
			return err
		}
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if n, err := newest(); err != nil || n > after {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				return fault.New(CodeWaitTimeout, "nothing changed in time")
			}
			return context.Cause(ctx)
		}
	}
}
