// Package pushgateway pushes metrics to a Pushgateway, with the client of client_golang.
//
// It adds retries of transient failures, a deadline for pushes and deletions, limits on
// answers and redirections, and errors with a code. Errors do not contain the password.
//
// A push replaces its group, so that a gateway always shows one moment of the ledger. If a
// counter falls, Prometheus counts it twice. Therefore every attempt gathers again, and
// Options.Lock prevents concurrent pushes to one group, from gathering to the answer.
package pushgateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/retry"
)

// DefaultTimeout is the default of Options.Timeout.
const DefaultTimeout = 10 * time.Second

// Options configure a push. A zero field takes its default.
type Options struct {
	// Timeout limits a push with waiting for the lock, gathering, all attempts and the pauses
	// between them. A request gets half of it, so that after a request that hangs there is
	// time for another attempt. An earlier deadline of the context applies.
	Timeout time.Duration
	// Lock waits until no other process pushes to the same group. It may be nil.
	Lock func(ctx context.Context) (unlock func(), err error)
	// UserAgent is sent to the gateway.
	UserAgent string

	// transport replaces the network in tests.
	transport http.RoundTripper
}

// Result is the result of a push or a deletion.
type Result struct {
	// URL is the gateway's URL, without a password.
	URL string `json:"url"`
	// Grouping is the key of the group, with the job.
	Grouping map[string]string `json:"grouping"`
	// Families, Series and Bytes are what a push sent; a histogram is one series. They are 0
	// for a deletion.
	Families int `json:"families,omitzero"`
	Series   int `json:"series,omitzero"`
	Bytes    int `json:"bytes,omitzero"`
	// Attempts is the number of requests made.
	Attempts int `json:"attempts"`
	// Deleted is true if the group was deleted, not replaced.
	Deleted bool `json:"deleted"`
}

// Push gathers metrics and replaces the target's group with them. gather is called once
// per attempt.
//
// # Errors
//
// push-refused, push-unavailable, push-target-invalid if a metric has a label of the group,
// and the errors of gather and Options.Lock. If ctx is cancelled, the error wraps its cause.
func Push(ctx context.Context, to Target, gather func(context.Context) ([]*dto.MetricFamily, error), o Options) (Result, error) {
	return repeat(ctx, to, o, func(ctx context.Context, c *client, got *Result) error {
		if o.Lock != nil {
			unlock, err := o.Lock(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				return errs.New(errs.PushUnavailable, "another push to the same group does not end").Because(err).With("url", to.String())
			}
			if err != nil {
				return err
			}
			defer unlock()
		}
		families, err := gather(ctx)
		if err != nil {
			return err
		}
		got.Families, got.Series = len(families), 0
		for _, family := range families {
			if err := to.checkLabels(family); err != nil {
				return err
			}
			got.Series += len(family.GetMetric())
		}
		gathered := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
		err = c.pusher().Gatherer(gathered).PushContext(ctx)
		got.Bytes = c.sent
		return err
	})
}

// Delete deletes the target's group. It succeeds if the group does not exist. Its errors are
// those of Push.
func Delete(ctx context.Context, to Target, o Options) (Result, error) {
	return repeat(ctx, to, o, func(_ context.Context, c *client, got *Result) error {
		got.Deleted = true
		return c.pusher().Delete()
	})
}

// pusher returns client_golang's client for one attempt.
func (c *client) pusher() *push.Pusher {
	p := push.New(c.to.String(), c.to.grouping[jobLabel]).Client(c)
	if c.to.user != nil {
		password, _ := c.to.user.Password()
		p.BasicAuth(c.to.user.Username(), password)
	}
	return p
}

// repeat makes attempts until one succeeds, one fails permanently, or the time is over.
func repeat(ctx context.Context, to Target, o Options, attempt func(context.Context, *client, *Result) error) (Result, error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if end, ok := ctx.Deadline(); ok {
		o.Timeout = min(o.Timeout, time.Until(end))
	}
	limited, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c := newClient(limited, to, o)
	defer c.http.CloseIdleConnections()
	got := Result{URL: to.String(), Grouping: to.Grouping()}
	pauses := retry.Backoff{First: 100 * time.Millisecond, Max: 2 * time.Second}
	for {
		got.Attempts++
		err := attempt(limited, c, &got)
		if err == nil {
			return got, nil
		}
		if errs.CodeOf(err) == errs.PushUnavailable && retry.Sleep(limited, pauses.Pause(got.Attempts)) {
			continue
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return got, fmt.Errorf("push to %s: %w", to, context.Cause(ctx))
		}
		if c.failed != nil && (errs.CodeOf(err) == errs.PushUnavailable || errors.Is(err, context.DeadlineExceeded)) {
			err = c.failed // It says more than that the time ended during a later attempt.
		}
		if code := errs.CodeOf(err); code == errs.PushRefused || code == errs.PushUnavailable {
			err = errs.With(err, "attempts", got.Attempts)
		}
		return got, err
	}
}
