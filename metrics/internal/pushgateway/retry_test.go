package pushgateway_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/metrics/internal/pushgateway"
)

// carrier is a function as a transport.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

func reply(status int, retryAfter string) (*http.Response, error) {
	h := http.Header{}
	if retryAfter != "" {
		h.Set("Retry-After", retryAfter)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("later"))}, nil
}

// TestTryingAgain uses a fake clock, so the pauses take no time.
func TestTryingAgain(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, c := range map[string]struct {
		answers  []func() (*http.Response, error)
		timeout  time.Duration
		code     errs.Code // "" for success
		attempts int       // 0 for as many as fit in the timeout
		// Bounds on the duration of the push.
		least, most time.Duration
		status      int // in the error's details; 0 is not checked
	}{
		"at once":           {answers: then(200, ""), attempts: 1},
		"500, then 200":     {answers: append(then(500, ""), then(200, "")...), attempts: 2, least: second / 20, most: second / 10},
		"refused, then 202": {answers: append(dead(), then(202, "")...), attempts: 2, least: second / 20, most: second / 10},
		"429, then 200":     {answers: append(then(429, ""), then(200, "")...), attempts: 2, least: second / 20, most: second / 10},
		"500, then 400":     {answers: append(then(500, ""), then(400, "")...), code: errs.PushRefused, attempts: 2, least: second / 20, most: second / 10},
		"always 503":        {answers: then(503, ""), timeout: 30 * second, code: errs.PushUnavailable, least: 28 * second, most: 30 * second, status: 503},
		"503, then hanging": {answers: append(then(503, ""), nil), timeout: 2 * second, code: errs.PushUnavailable, attempts: 3, least: 2 * second, most: 2 * second, status: 503},
		"hanging":           {answers: []func() (*http.Response, error){nil}, timeout: 2 * second, code: errs.PushUnavailable, attempts: 2, least: 2 * second, most: 2 * second},
		"hanging, then 200": {answers: append([]func() (*http.Response, error){nil}, then(200, "")...), timeout: 2 * second, attempts: 2, least: second, most: 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				transport := func(r *http.Request) (*http.Response, error) {
					next := c.answers[min(asked, len(c.answers)-1)]
					asked++
					if next == nil {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
					return next()
				}
				started := time.Now()
				got, err := pushgateway.Push(t.Context(), target(t, "http://gate.example"), gathers,
					pushgateway.Through(pushgateway.Options{Timeout: c.timeout}, carrier(transport)))
				took := time.Since(started)
				if errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
					t.Fatalf("got %v, want code %q", err, c.code)
				}
				if e, ok := errors.AsType[*errs.Error](err); c.status > 0 && (!ok || e.Details["status"] != c.status) {
					t.Errorf("got %v, want the status %d", err, c.status)
				}
				if got.Attempts != asked || c.attempts > 0 && asked != c.attempts {
					t.Errorf("%d attempts and %d requests, want %d", got.Attempts, asked, c.attempts)
				}
				if took < c.least || took > c.most {
					t.Errorf("it took %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

func then(status int, retryAfter string) []func() (*http.Response, error) {
	return []func() (*http.Response, error){func() (*http.Response, error) { return reply(status, retryAfter) }}
}

func dead() []func() (*http.Response, error) {
	return []func() (*http.Response, error){func() (*http.Response, error) { return nil, syscall.ECONNREFUSED }}
}

// TestACancelledPause checks that cancellation ends a pause.
func TestACancelledPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		const early = 40 * time.Millisecond // before the end of the shortest first pause
		time.AfterFunc(early, cancel)
		transport := func(*http.Request) (*http.Response, error) { return reply(503, "") }
		started := time.Now()
		_, err := pushgateway.Delete(ctx, target(t, "http://gate.example"), pushgateway.Through(pushgateway.Options{}, carrier(transport)))
		if !errors.Is(err, context.Canceled) || time.Since(started) != early {
			t.Errorf("after %v: %v", time.Since(started), err)
		}
	})
}

// TestTheCallersDeadline checks that the context's deadline limits the push.
func TestTheCallersDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		hangs := func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		started := time.Now()
		got, err := pushgateway.Push(ctx, target(t, "http://gate.example"), gathers, pushgateway.Through(pushgateway.Options{Timeout: time.Hour}, carrier(hangs)))
		if errs.CodeOf(err) != errs.PushUnavailable || got.Attempts != 2 || time.Since(started) != 2*time.Second {
			t.Errorf("%d attempts in %v: %v", got.Attempts, time.Since(started), err)
		}
	})
}
