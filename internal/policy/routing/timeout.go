package routing

import (
	"context"
	"fmt"
	"time"
)

// LoadTimeout bounds loading a policy that is not built in. A policy of a page takes a
// millisecond, but a few nested comprehensions can keep the compiler busy indefinitely.
const LoadTimeout = 5 * time.Second

// grace is the time an evaluation has to notice that it was canceled.
const grace = 100 * time.Millisecond

// timedOut reports work that exceeded its time and was abandoned: OPA checks for
// cancellation between steps, and one step can be long.
type timedOut struct{ cause error }

func (a timedOut) Error() string { return a.cause.Error() }
func (a timedOut) Unwrap() error { return a.cause }

// panicked is a panic of OPA on a policy or its input.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Bounded returns the result of work, but waits at most a grace period after ctx ends.
// Abandoned work continues until it or the process ends.
func Bounded[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = panicked{p}
			}
			done <- o
		}()
		growStack(0)
		o.value, o.err = work()
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(grace):
		var none T
		return none, timedOut{ctx.Err()}
	}
}

// stackRoom is the initial stack of a goroutine, in bytes: more than the evaluation of an
// embedded policy needs.
const stackRoom = 48 << 10

// growStack grows the goroutine's stack to stackRoom at once. OPA recurses deeply, and
// repeatedly doubling and copying the stack takes two fifths of a decision's time.
//
//go:noinline
func growStack(i int) byte {
	var room [stackRoom]byte
	return room[i]
}
