package policyset

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

const (
	// pendingBatches is the number of batches that wait for the caller; each has its own
	// goroutine.
	pendingBatches = 4
	// A batch has at most this many events, or fewer if they have this many bytes.
	batchEvents = 64
	batchBytes  = 1 << 20
)

// batch is consecutive events and their results.
type batch[T any] struct {
	events  []ledger.Event
	done    chan struct{} // closed when the fields below are set
	results []T           // of the events before the first error
	err     error
}

func (b *batch[T]) work(f func(ledger.Event) (T, error)) {
	defer close(b.done)
	b.results = make([]T, 0, len(b.events))
	for _, event := range b.events {
		result, err := f(event)
		if err != nil {
			b.err = err
			return
		}
		b.results = append(b.results, result)
	}
}

// batches groups events, up to the first error.
func batches[T any](events iter.Seq2[ledger.Event, error]) iter.Seq[*batch[T]] {
	return func(yield func(*batch[T]) bool) {
		b, size := &batch[T]{done: make(chan struct{})}, 0
		for event, err := range events {
			if err != nil {
				b.err = err
				break
			}
			b.events = append(b.events, event)
			if size += len(event.Body); len(b.events) < batchEvents && size < batchBytes {
				continue
			}
			if !yield(b) {
				return
			}
			b, size = &batch[T]{done: make(chan struct{})}, 0
		}
		yield(b)
	}
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
	ordered := make(chan *batch[T], pendingBatches)
	running.Go(func() {
		defer close(ordered)
		for b := range batches[T](events) {
			select {
			case ordered <- b:
				running.Go(func() { b.work(work) })
			case <-ctx.Done():
				return
			}
		}
	})
	for b := range ordered {
		<-b.done
		for _, result := range b.results {
			if err := take(result); err != nil {
				return err
			}
		}
		if b.err != nil {
			return b.err
		}
	}
	return context.Cause(ctx)
}
