package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/retry"
)

func TestAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		for n := range (retry.Backoff{First: time.Second, Max: 3 * time.Second, Limit: 5}).Attempts(t.Context()) {
			at = append(at, time.Since(start))
			if n != len(at) {
				t.Errorf("attempt %d is number %d", len(at), n)
			}
		}
		if len(at) != 5 {
			t.Fatalf("%d attempts, want 5", len(at))
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second} {
			if pause := at[i+1] - at[i]; pause < most/2 || pause > most {
				t.Errorf("pause %d is %s, want %s to %s", i+1, pause, most/2, most)
			}
		}
	})
}

func TestAttemptsEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, done := range map[string]func() (context.Context, context.CancelFunc){
			"cancelled": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				return ctx, cancel
			},
			"deadline before the end of the pause": func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(t.Context(), time.Second)
			},
		} {
			ctx, cancel := done()
			start, attempts := time.Now(), 0
			for range (retry.Backoff{First: time.Hour, Max: time.Hour}).Attempts(ctx) {
				attempts++
			}
			if attempts != 1 || time.Since(start) != 0 {
				t.Errorf("%s: %d attempts in %s", name, attempts, time.Since(start))
			}
			cancel()
		}
	})
}

func TestSleepIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if start := time.Now(); retry.Sleep(ctx, time.Hour) || time.Since(start) != time.Second {
			t.Errorf("slept for %s", time.Since(start))
		}
	})
}
