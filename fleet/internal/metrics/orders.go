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

// The outcomes of an attempt to carry out an order.
const (
	done      = "done"
	cancelled = "cancelled"
	// failed attempts end their task. The server repeats retried attempts.
	failed  = "failed"
	retried = "retried"
)

// Orders returns an interceptor for worker.Options.Interceptors that counts the orders of a
// worker.
func (m *Metrics) Orders() interceptor.WorkerInterceptor { return &orders{metrics: m} }

type orders struct {
	interceptor.WorkerInterceptorBase
	metrics *Metrics
}

func (o *orders) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &timedActivity{interceptor.ActivityInboundInterceptorBase{Next: next}, o.metrics}
}

type timedActivity struct {
	interceptor.ActivityInboundInterceptorBase
	metrics *Metrics
}

func (t *timedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	began := time.Now()
	result, err := t.Next.ExecuteActivity(ctx, in)
	if name := activity.GetInfo(ctx).ActivityType.Name; slices.Contains(flow.Orders(), name) {
		kind := strings.ToLower(name)
		t.metrics.orders.WithLabelValues(kind, outcomeOf(ctx, result, err)).Inc()
		t.metrics.durations.WithLabelValues(kind).Observe(time.Since(began).Seconds())
	}
	return result, err
}

func outcomeOf(ctx context.Context, result any, err error) string {
	var application *temporal.ApplicationError
	d, _ := result.(flow.Done)
	switch {
	case err == nil && d.Draft != "":
		return done
	case err == nil: // It was interrupted, and only says how much its agents have used.
		return cancelled
	case ctx.Err() != nil:
		return cancelled
	case errors.As(err, &application) && application.NonRetryable():
		return failed
	}
	return retried
}
