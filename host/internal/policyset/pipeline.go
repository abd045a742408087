package policyset

import (
	"context"
	"iter"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

const (
	// workers is the number of goroutines that process events, beside the one that reads
	// them.
	workers = 2
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
			break
		}
		b.results = append(b.results, result)
	}
	b.events = nil
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
	ordered, todo := make(chan *batch[T], 2*workers), make(chan *batch[T])
	running.Go(func() {
		defer close(ordered)
		defer close(todo)
		fetch(ctx, events, ordered, todo)
	})
	for range workers {
		running.Go(func() {
			for b := range todo {
				b.work(work)
			}
		})
	}
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

// fetch sends batches of events to the workers and, in order, to the caller, until ctx is
// done.
func fetch[T any](ctx context.Context, events iter.Seq2[ledger.Event, error], ordered, todo chan<- *batch[T]) {
	b, bytes := &batch[T]{done: make(chan struct{})}, 0
	send := func() bool {
		full := b
		b, bytes = &batch[T]{done: make(chan struct{})}, 0
		for _, to := range []chan<- *batch[T]{todo, ordered} {
			select {
			case to <- full:
			case <-ctx.Done():
				return false
			}
		}
		return true
	}
	for event, err := range events {
		if err != nil {
			if len(b.events) == 0 || send() {
				b.err = err
				send()
			}
			return
		}
		b.events = append(b.events, event)
		if bytes += len(event.Body); len(b.events) == batchEvents || bytes >= batchBytes {
			if !send() {
				return
			}
		}
	}
	if len(b.events) > 0 {
		send()
	}
}
