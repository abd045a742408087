package pushgateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The limits of trying again. The pause doubles between the two, and varies, so
// that many that were refused together do not come back together.
const (
	maxAttempts = 5
	firstPause  = 100 * time.Millisecond
	lastPause   = 2 * time.Second
)

// passing is a failure that may pass.
type passing struct {
	failure *errs.Error
	// after is how long the gateway wants us to wait, 0 where it does not say.
	after time.Duration
}

func (p passing) Error() string { return p.failure.Error() }

// Unwrap leads to the failure itself.
func (p passing) Unwrap() error { return p.failure }

// run makes one attempt after the other, until one succeeds, fails for good, or
// the time is over.
func run(ctx context.Context, to Target, o Options, attempt func(context.Context, *courier, *Receipt) error) (Receipt, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if end, ok := ctx.Deadline(); ok {
		o.Timeout = min(o.Timeout, time.Until(end))
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c := newCourier(to, o)
	defer c.close()
	got := Receipt{URL: to.String(), Grouping: to.Grouping()}
	for {
		got.Attempts++
		err := attempt(limited, c, &got)
		if err == nil {
			return got, nil
		}
		again, may := errors.AsType[passing](err)
		if may && got.Attempts < maxAttempts && pause(limited, again.wait(got.Attempts)) {
			continue
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return got, fmt.Errorf("push to %s: %w", to, context.Cause(ctx))
		}
		return got, final(err, got)
	}
}

// wait is how long to pause after the attempt of that number.
func (p passing) wait(attempt int) time.Duration {
	step := min(firstPause<<(attempt-1), lastPause)
	return max(p.after, step/2+rand.N(step/2))
}

// pause waits, and reports false where the time would not last: waiting for its end
// helps nobody.
func pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// final adds to a failure of the gateway's how often it was tried.
func final(err error, got Receipt) error {
	if f, ok := errors.AsType[*errs.Error](err); ok && (f.Code == errs.PushRefused || f.Code == errs.PushUnavailable) {
		return f.With("attempts", got.Attempts)
	}
	return err
}
