package host

import (
	"context"
	"iter"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/ledger"
)

const (
	// readers is how many goroutines work on events, beside the one that fetches
	// them.
	readers = 2
	// A load is what one of them gets at a time: so many events, or fewer as soon as
	// they have so many bytes.
	loadEvents = 64
	loadBytes  = 1 << 20
)

// load is some events, one after the other, and what came of them.
type load[T any] struct {
	events []ledger.Event
	done   chan struct{} // closed when what follows is set
	came   []T           // of the events before the first error
	err    error
}

func (l *load[T]) work(f func(ledger.Event) (T, error)) {
	defer close(l.done)
	l.came = make([]T, 0, len(l.events))
	for _, event := range l.events {
		came, err := f(event)
		if err != nil {
			l.err = err
			break
		}
		l.came = append(l.came, came)
	}
	l.events = nil
}

// inOrder works on events in several goroutines, and gives what comes of them to
// take in the order of the events, in the caller's own. It ends with the first error
// in that order, or when ctx is done, and leaves nothing running. What it holds in
// memory does not grow with the number of events.
func inOrder[T any](ctx context.Context, events iter.Seq2[ledger.Event, error], work func(ledger.Event) (T, error), take func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	ordered, todo := make(chan *load[T], 2*readers), make(chan *load[T])
	running.Go(func() {
		defer close(ordered)
		defer close(todo)
		fetch(ctx, events, ordered, todo)
	})
	for range readers {
		running.Go(func() {
			for l := range todo {
				l.work(work)
			}
		})
	}
	for l := range ordered {
		<-l.done
		for _, came := range l.came {
			if err := take(came); err != nil {
				return err
			}
		}
		if l.err != nil {
			return l.err
		}
	}
	return context.Cause(ctx)
}

// fetch sends events off, to whoever takes them in order and to whoever works on
// them, until ctx is done.
func fetch[T any](ctx context.Context, events iter.Seq2[ledger.Event, error], ordered, todo chan<- *load[T]) {
	l, bytes := &load[T]{done: make(chan struct{})}, 0
	send := func() bool {
		full := l
		l, bytes = &load[T]{done: make(chan struct{})}, 0
		for _, to := range []chan<- *load[T]{todo, ordered} {
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
			if len(l.events) == 0 || send() {
				l.err = err
				send()
			}
			return
		}
		l.events = append(l.events, event)
		if bytes += len(event.Body); len(l.events) == loadEvents || bytes >= loadBytes {
			if !send() {
				return
			}
		}
	}
	if len(l.events) > 0 {
		send()
	}
}
