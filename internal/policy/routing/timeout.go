package routing

import (
	"context"
	"fmt"
	"time"
)

// LoadTimeout is how long loading a policy that is not built in may take. A
// policy of a page takes a millisecond, but a few nested comprehensions can keep
// the compiler busy for ever.
const LoadTimeout = 5 * time.Second

// grace is how long an evaluation has to notice that it was cancelled.
const grace = 100 * time.Millisecond

// timedOut says that work went on beyond its time and was left behind: OPA
// looks for a cancellation between steps, and one step can be long.
type timedOut struct{ cause error }

func (a timedOut) Error() string { return a.cause.Error() }
func (a timedOut) Unwrap() error { return a.cause }

// panicked is a panic of OPA over a policy or its input.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Bounded returns what work returns, but waits no longer than a grace beyond the
// end of ctx. Work that is left behind goes on until it or the process ends.
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

// stackRoom is how much stack a goroutine gets to begin with, in bytes: the
// evaluation of an embedded policy needs less.
const stackRoom = 48 << 10

// growStack has the goroutine's stack grown to stackRoom at once. OPA recurs
// deeply, and a stack that doubles under it is copied with all its frames each
// time, which takes two fifths of a decision's time.
//
//go:noinline
func growStack(i int) byte {
	var room [stackRoom]byte
	return room[i]
}
