package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/heartbeat"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/spawner"
)

// progress tells the server which agents the worker has started.
type progress struct {
	stop func()
	// began is notified when an agent begins: it must be counted even if the machine dies.
	began chan struct{}

	mu sync.Mutex
	// before has the agents of earlier attempts, which died with their machine. now has the
	// agents of this attempt.
	before, now []flow.Progress
}

// newProgress begins to send heartbeats. The caller must stop it.
func newProgress(ctx context.Context) *progress {
	p := &progress{began: make(chan struct{}, 1)}
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &p.before) // Details of another version may be unreadable.
	}
	p.stop = heartbeat.Start(ctx, func() any {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.Concat(p.before, p.now)
	}, p.began)
	return p
}

// observe follows the agents of this attempt.
func (p *progress) observe(s spawner.Progress) {
	if s.Adapter == "" || s.Run == "" {
		return // It is not an agent.
	}
	at := flow.Progress{Run: s.Run, Agent: s.Agent, Adapter: s.Adapter, Tool: s.Tool, Output: time.Now().UTC().Format(time.RFC3339)}
	p.mu.Lock()
	i := slices.IndexFunc(p.now, func(other flow.Progress) bool { return other.Run == s.Run })
	if i < 0 {
		p.now = append(p.now, at)
	} else {
		p.now[i] = at
	}
	p.mu.Unlock()
	if i < 0 {
		select {
		case p.began <- struct{}{}:
		default:
		}
	}
}

// ranAgent reports whether this attempt has started an agent.
func (p *progress) ranAgent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.now) > 0
}

// lostRuns returns the agents of earlier attempts.
func (p *progress) lostRuns() []host.LostRun {
	var runs []host.LostRun
	for _, run := range p.before {
		runs = append(runs, host.LostRun{Run: run.Run, Agent: run.Agent, Adapter: run.Adapter})
	}
	return runs
}
