package fleettest

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
)

// Project is the project of scripted tasks, and Queue the queue of their workers.
const (
	Project = "shop"
	Queue   = "switchyard-work-claude-sandbox"
)

// Script is a home and workers. The home gives each task the same positions in order, and then
// repeats the last one. It is safe for concurrent use.
type Script struct {
	Positions []flow.Position
	// Decide replaces Positions if it is not nil.
	Decide func(context.Context, flow.Move) (flow.Position, error)
	// Work carries out an order. If it is nil, the result of an order is its own digest.
	Work func(ctx context.Context, kind string, o flow.Order) (flow.Done, error)

	mu    sync.Mutex
	moves map[string][]flow.Move
	done  []string
}

// Moves returns the moves of a task that the home has received.
func (s *Script) Moves(id string) []flow.Move {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moves[id]
}

// Done returns the kinds of the orders that were carried out.
func (s *Script) Done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}

// registry is a worker or a test environment.
type registry interface {
	RegisterActivityWithOptions(any, activity.RegisterOptions)
	RegisterWorkflowWithOptions(any, workflow.RegisterOptions)
}

// Register registers the workflow and all activities.
func (s *Script) Register(r registry) {
	r.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.Workflow})
	s.RegisterActivities(r)
}

// RegisterActivities registers all activities.
func (s *Script) RegisterActivities(r registry) {
	r.RegisterActivityWithOptions(s.advance, activity.RegisterOptions{Name: flow.Advance})
	for _, kind := range flow.Orders() {
		r.RegisterActivityWithOptions(func(ctx context.Context, o flow.Order) (flow.Done, error) {
			return s.work(ctx, kind, o)
		}, activity.RegisterOptions{Name: kind})
	}
}

func (s *Script) advance(ctx context.Context, m flow.Move) (flow.Position, error) {
	s.mu.Lock()
	if s.moves == nil {
		s.moves = make(map[string][]flow.Move)
	}
	n := len(s.moves[m.Task])
	s.moves[m.Task] = append(s.moves[m.Task], m)
	s.mu.Unlock()
	if s.Decide != nil {
		return s.Decide(ctx, m)
	}
	return s.Positions[min(n, len(s.Positions)-1)], nil
}

func (s *Script) work(ctx context.Context, kind string, o flow.Order) (done flow.Done, err error) {
	if s.Work == nil {
		done.Result = o.Digest
	} else {
		done, err = s.Work(ctx, kind, o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.done = append(s.done, kind)
	}
	return done, err
}

// Start starts a worker for each queue of a fleet. They end with the test.
func (s *Script) Start(t testing.TB, c client.Client) {
	t.Helper()
	s.Serve(t, c, flow.TaskQueue, flow.HomeQueue(Project), Queue)
}

// Serve starts a worker for each of these queues. They end with the test.
func (s *Script) Serve(t testing.TB, c client.Client, queues ...string) {
	t.Helper()
	for _, queue := range queues {
		w := worker.New(c, queue, worker.Options{Identity: "test", MaxHeartbeatThrottleInterval: time.Second})
		s.Register(w)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
}
