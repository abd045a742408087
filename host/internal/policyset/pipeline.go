package policyset

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// pendingEvents is the number of events that are read and wait for the caller. It bounds
// memory: each has its body, and its own goroutine.
const pendingEvents = 8

type result[T any] struct {
	value T
	err   error
}

// inOrder calls work for events in several goroutines, and take with the results, in the
// order of the events and in the caller's goroutine. It ends at the first error in that
// order, or when ctx is done, and leaves no goroutine running. Its memory does not grow
// with the number of events.
func inOrder[T any](ctx context.Context, events iter.Seq2[ledger.Event, error], work func(ledger.Event) (T, error), take func(T) error) error {
	// Memory that is reserved but never touched: the collector runs less often, because
	// events become garbage at once. See also ledger.Verify.
	reserve := make([]byte, 64<<20)
	defer runtime.KeepAlive(reserve)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	ordered := make(chan chan result[T], pendingEvents)
	running.Go(func() {
		defer close(ordered)
		for event, err := range events {
			next := make(chan result[T], 1)
			select {
			case ordered <- next:
			case <-ctx.Done():
				return
			}
			if err != nil {
				next <- result[T]{err: err}
				return
			}
			running.Go(func() {
				value, err := work(event)
				next <- result[T]{value, err}
			})
		}
	})
	for next := range ordered {
		r := <-next
		if r.err != nil {
			return r.err
		}
		if err := take(r.value); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
