package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/spawner"
)

// heartbeat tells the server that the worker is alive and which agents it has started. It has
// its own goroutine, because an agent may have no output for a long time. It does not use the
// SDK's heartbeats, which end the agents if the server has an outage, and are not sent while a
// cancelled agent ends.
type heartbeat struct {
	ctx  context.Context
	end  context.CancelFunc
	over sync.WaitGroup
	// began is notified when an agent begins: it must be counted even if the machine dies.
	began chan struct{}

	mu sync.Mutex
	// before has the agents of earlier attempts, which died with their machine. now has the
	// agents of this attempt.
	before, now []flow.Progress
}

// newHeartbeat begins to send heartbeats, also after ctx has ended. The caller must stop it.
func newHeartbeat(ctx context.Context) *heartbeat {
	b := &heartbeat{began: make(chan struct{}, 1)}
	b.ctx, b.end = context.WithCancel(context.WithoutCancel(ctx))
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &b.before) // Details of another version may be unreadable.
	}
	interval := max(activity.GetInfo(ctx).HeartbeatTimeout/4, 100*time.Millisecond)
	b.over.Go(func() {
		for cancelled := false; ; {
			over, err := b.send(interval)
			if over && !cancelled {
				cancelled = true
				activity.RecordHeartbeat(b.ctx, b.agents()) // It gets the same answer, and cancels the order.
			}
			wait := interval
			if err != nil {
				wait = min(wait, time.Second)
			}
			select {
			case <-time.After(wait):
			case <-b.began:
			case <-b.ctx.Done():
				return
			}
		}
	})
	return b
}

func (b *heartbeat) stop() {
	b.end()
	b.over.Wait()
}

// agents returns the agents of all attempts.
func (b *heartbeat) agents() []flow.Progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.before, b.now)
}

// send sends a heartbeat once. over reports whether the server wants the order to end. Other
// errors may be temporary.
func (b *heartbeat) send(limit time.Duration) (over bool, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	details, err := converter.GetDefaultDataConverter().ToPayloads(b.agents())
	if err != nil {
		return false, err
	}
	info := activity.GetInfo(ctx)
	r, err := activity.GetClient(ctx).WorkflowService().RecordActivityTaskHeartbeat(ctx, &workflowservice.RecordActivityTaskHeartbeatRequest{
		Namespace: info.Namespace, TaskToken: info.TaskToken, Details: details,
	})
	switch err.(type) {
	case *serviceerror.NotFound, *serviceerror.NamespaceNotFound, *serviceerror.NamespaceNotActive:
		return true, err
	}
	return r.GetCancelRequested() || r.GetActivityPaused() || r.GetActivityReset(), err
}

// observe follows the agents of this attempt.
func (b *heartbeat) observe(p spawner.Progress) {
	if p.Adapter == "" || p.Run == "" {
		return // It is not an agent.
	}
	at := flow.Progress{Run: p.Run, Agent: p.Agent, Adapter: p.Adapter, Tool: p.Tool, Output: time.Now().UTC().Format(time.RFC3339)}
	b.mu.Lock()
	i := slices.IndexFunc(b.now, func(other flow.Progress) bool { return other.Run == p.Run })
	if i < 0 {
		b.now = append(b.now, at)
	} else {
		b.now[i] = at
	}
	b.mu.Unlock()
	if i < 0 {
		select {
		case b.began <- struct{}{}:
		default:
		}
	}
}

// lostRuns returns the agents of earlier attempts.
func (b *heartbeat) lostRuns() []host.LostRun {
	var runs []host.LostRun
	for _, p := range b.before {
		runs = append(runs, host.LostRun{Run: p.Run, Agent: p.Agent, Adapter: p.Adapter})
	}
	return runs
}
