// Package await waits for work that cannot be cancelled, such as a read from a named
// pipe.
package await

import "context"

// Result returns the result of f, or the cause of ctx if ctx is done first. Then f goes on
// in its goroutine, and its result is dropped.
func Result[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}
