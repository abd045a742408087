package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/spawner"
)

// heartbeat tells the server that the worker is alive and which agents it has started. It has
// its own goroutine, because an agent may have no output for a long time.
type heartbeat struct {
	ctx  context.Context
	end  context.CancelFunc
	over sync.WaitGroup

	mu sync.Mutex
	// before has the agents of earlier attempts, which died with their machine. now has the
	// agents of this attempt.
	before, now []flow.Progress
}

// newHeartbeat begins to send heartbeats. The caller must stop it.
func newHeartbeat(ctx context.Context) *heartbeat {
	b := &heartbeat{}
	b.ctx, b.end = context.WithCancel(ctx)
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &b.before) // Details of another version may be unreadable.
	}
	b.send()
	tick := time.NewTicker(max(activity.GetInfo(ctx).HeartbeatTimeout/4, 100*time.Millisecond))
	b.over.Go(func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.send()
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

func (b *heartbeat) send() {
	b.mu.Lock()
	all := slices.Concat(b.before, b.now)
	b.mu.Unlock()
	activity.RecordHeartbeat(b.ctx, all)
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
	if i < 0 { // The agent must be counted even if the machine dies now.
		b.send()
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
