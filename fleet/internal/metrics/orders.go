package metrics

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
)

// kinds returns the values of the label kind.
func kinds() []string {
	var all []string
	for _, activity := range []string{flow.Draft, flow.Review, flow.Assist, flow.Research, flow.Commit} {
		all = append(all, strings.ToLower(activity))
	}
	return all
}

// The outcomes of an attempt to carry out an order.
const (
	done      = "done"
	cancelled = "cancelled"
	// failed attempts end their task, the server repeats retried ones.
	failed  = "failed"
	retried = "retried"
)

func outcomes() []string { return []string{done, cancelled, failed, retried} }

// Orders returns an interceptor for worker.Options.Interceptors that counts the orders of a
// worker.
func (m *Metrics) Orders() interceptor.WorkerInterceptor { return &orders{metrics: m} }

type orders struct {
	interceptor.WorkerInterceptorBase
	metrics *Metrics
}

func (o *orders) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &timed{interceptor.ActivityInboundInterceptorBase{Next: next}, o.metrics}
}

type timed struct {
	interceptor.ActivityInboundInterceptorBase
	metrics *Metrics
}

func (t *timed) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	began := time.Now()
	result, err := t.Next.ExecuteActivity(ctx, in)
	kind := strings.ToLower(activity.GetInfo(ctx).ActivityType.Name)
	if slices.Contains(kinds(), kind) { // Advance is not an order.
		t.metrics.ended(kind, outcomeOf(ctx, err), time.Since(began))
	}
	return result, err
}

func outcomeOf(ctx context.Context, err error) string {
	var application *temporal.ApplicationError
	switch {
	case err == nil:
		return done
	case ctx.Err() != nil:
		return cancelled
	case errors.As(err, &application) && application.NonRetryable():
		return failed
	}
	return retried
}
