// Package retry repeats an attempt with growing pauses.
//
//	for range retry.Backoff{First: time.Millisecond, Max: time.Second}.Attempts(ctx) {
//		if err = attempt(ctx); !mayPass(err) {
//			break
//		}
//	}
package retry

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"
)

// Backoff says how to pause between attempts.
type Backoff struct {
	// First is the pause after the first attempt. Each pause is twice as long as the
	// one before, up to Max.
	First, Max time.Duration
	// Limit is the number of attempts, or 0 for no limit.
	Limit int
}

// Attempts yields 1 for the first attempt, pauses, yields 2, and so on. It ends after Limit
// attempts, when ctx is done, or if its deadline is before the end of the pause. It always
// yields the first attempt.
func (b Backoff) Attempts(ctx context.Context) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 1; yield(n); n++ {
			if n == b.Limit || !Sleep(ctx, b.Pause(n)) {
				return
			}
		}
	}
}

// Pause returns the pause after attempt n, which counts from 1. It is half as long as the
// Backoff says, plus a random part of the other half, so that processes that collided once
// do not collide again.
func (b Backoff) Pause(n int) time.Duration {
	pause := b.First
	for ; n > 1 && pause < b.Max; n-- {
		pause *= 2
	}
	half := min(pause, b.Max) / 2
	return half + rand.N(half+1)
}

// Sleep waits for d and returns true. It returns false as soon as ctx is done, and at once
// if its deadline is before the end of d.
func Sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ctx.Err() != nil || ok && time.Until(end) <= d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
