// Package heartbeat sends the heartbeats of activities. It does not use the SDK's heartbeats,
// which cancel an activity if the server has an outage, and are not sent while a cancelled
// activity ends.
package heartbeat

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
)

// Start sends heartbeats of the activity of ctx until stop is called, also after ctx has ended.
// details returns their details. A value from now, which may be nil, has one sent at once.
func Start(ctx context.Context, details func() any, now <-chan struct{}) (stop func()) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	interval := max(activity.GetInfo(ctx).HeartbeatTimeout/4, 100*time.Millisecond)
	var over sync.WaitGroup
	over.Go(func() {
		cancelled, wait := false, interval
		for {
			select {
			case <-time.After(wait):
			case <-now:
			case <-ctx.Done():
				return
			}
			ended, err := send(ctx, details(), interval)
			if ended && !cancelled {
				cancelled = true
				activity.RecordHeartbeat(ctx, details()) // It gets the same answer, and cancels the activity.
			}
			if wait = interval; err != nil {
				wait = min(wait, time.Second)
			}
		}
	})
	return func() {
		end()
		over.Wait()
	}
}

// send sends a heartbeat once. ended reports whether the activity must end. Other errors may be
// temporary.
func send(ctx context.Context, details any, limit time.Duration) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(details)
	if err != nil {
		return false, err
	}
	info := activity.GetInfo(ctx)
	r, err := activity.GetClient(ctx).WorkflowService().RecordActivityTaskHeartbeat(ctx, &workflowservice.RecordActivityTaskHeartbeatRequest{
		Namespace: info.Namespace, TaskToken: info.TaskToken, Details: payloads,
	})
	switch err.(type) {
	case *serviceerror.NotFound, *serviceerror.NamespaceNotFound, *serviceerror.NamespaceNotActive:
		return true, err
	}
	return r.GetCancelRequested() || r.GetActivityPaused() || r.GetActivityReset(), err
}
