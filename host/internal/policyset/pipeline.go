package policyset

import (
	"context"
	"iter"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// A goroutine works on a batch of events, and at most pendingBatches of them wait for the
// caller. Both bound memory. The waiting batches hold more events than a page of the ledger,
// so that the next page is read while goroutines work.
const (
	batchEvents    = 64
	batchBytes     = 256 << 10
	pendingBatches = 8
)

// batch is a number of events, with the results of their work.
type batch[T any] struct {
	events  []ledger.Event
	bytes   int // of the bodies
	results []T
	err     error         // of the first event that has no result, or that ended the events after these
	done    chan struct{} // closed when the work has ended
}

// inOrder calls work for events in several goroutines, and take with the results, in the
// order of the events and in the caller's goroutine. It ends at the first error in that
// order, or when ctx is done, and leaves no goroutine running. Its memory does not grow
// with the number of events.
func inOrder[T any](ctx context.Context, events iter.Seq2[ledger.Event, error], work func(ledger.Event) (T, error), take func(T) error) error {
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
		for _, r := range b.results {
			if err := take(r); err != nil {
				return err
			}
		}
		if b.err != nil {
			return b.err
		}
	}
	return context.Cause(ctx)
}

// batches yields events in batches, the last with the error that ended them.
func batches[T any](events iter.Seq2[ledger.Event, error]) iter.Seq[*batch[T]] {
	return func(yield func(*batch[T]) bool) {
		empty := func() *batch[T] { return &batch[T]{done: make(chan struct{})} }
		b := empty()
		for e, err := range events {
			if b.err = err; err != nil {
				break
			}
			b.events, b.bytes = append(b.events, e), b.bytes+len(e.Body)
			if len(b.events) == batchEvents || b.bytes >= batchBytes {
				if !yield(b) {
					return
				}
				b = empty()
			}
		}
		yield(b)
	}
}

func (b *batch[T]) work(do func(ledger.Event) (T, error)) {
	defer close(b.done)
	for _, e := range b.events {
		result, err := do(e)
		if err != nil {
			b.err = err
			return
		}
		b.results = append(b.results, result)
	}
}
