package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/home"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// BenchmarkFleet measures rounds of 100 tasks on two workers and a home, with a Temporal dev
// server, and in turn as many activities that do nothing. The home and its ledger are real;
// the results of workers were rehearsed: agents, verifications and git of 80 steps a second
// would need many more processors than a server and a home. The tasks have their branches
// before the measurement begins.
func BenchmarkFleet(b *testing.B) {
	const rounds, tasks = 5, 100
	server := fleettest.Server(b, tuned...)
	s := newBenchSite(b, rounds)
	results := rehearse(b, s, rounds)
	h, blobs := s.home(b), s.store(b)
	h.Decided = func(string) {} // It is called concurrently.
	in := s.request(b, api.RunRequest{Prompt: "Handle the empty list."})
	perform := func(ctx context.Context, o flow.Order) (flow.Done, error) {
		return results.work(ctx, blobs, activity.GetInfo(ctx).ActivityType.Name, o)
	}
	queue := flow.WorkQueue("claude", confinement.None)
	c := server.Client()
	serve(b, c, flow.HomeQueue(in.Project), home.Options(), func(w worker.Worker) {
		home.Register(w, h)
		w.RegisterActivityWithOptions(nothing, activity.RegisterOptions{Name: "nothing"})
	})
	for range 2 {
		serve(b, c, flow.TaskQueue, worker.Options{}, func(w worker.Worker) {
			w.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.Workflow})
			w.RegisterWorkflowWithOptions(bare, workflow.RegisterOptions{Name: "bare"})
		})
		for _, q := range []string{queue, flow.WorkQueue(flow.AnyAdapter, confinement.None)} {
			serve(b, c, q, worker.Options{}, func(w worker.Worker) {
				for _, kind := range []string{flow.Draft, flow.Review, flow.Commit} {
					w.RegisterActivityWithOptions(perform, activity.RegisterOptions{Name: kind})
				}
				w.RegisterActivityWithOptions(nothing, activity.RegisterOptions{Name: "nothing"})
			})
		}
	}
	var best, bestBare float64
	set := 0
	for b.Loop() {
		set++
		name := func(i int) string { return fmt.Sprintf("T%02d%03d", set, i) }
		each(tasks, func(i int) {
			if _, err := h.Advance(b.Context(), flow.Move{Task: name(i), Request: in.Request}); err != nil {
				b.Error(err)
			}
		})
		took := all(b, c, tasks, func(i int) (string, any) {
			task := in
			task.Task = name(i)
			return flow.Workflow, task
		})
		best = max(best, tasks*rounds/took.Seconds())
		// A round has two steps, and the commit is one more. Each has two activities.
		took = all(b, c, tasks, func(int) (string, any) {
			return "bare", bareInput{Home: flow.HomeQueue(in.Project), Work: queue, Steps: 2*rounds + 1}
		})
		bestBare = max(bestBare, tasks*rounds/took.Seconds())
	}
	b.ReportMetric(best, "rounds/s")
	b.ReportMetric(bestBare, "bare-rounds/s")
	b.ReportMetric(best/bestBare, "ratio")
}

// serve starts a Temporal worker. It ends with the benchmark.
func serve(b *testing.B, c client.Client, queue string, o worker.Options, register func(worker.Worker)) {
	b.Helper()
	w := worker.New(c, queue, o)
	register(w)
	if err := w.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Stop)
}

// all runs workflows at once and returns how long they took together.
func all(b *testing.B, c client.Client, n int, input func(int) (workflow string, input any)) time.Duration {
	b.Helper()
	begin := time.Now()
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			kind, in := input(i)
			run, err := c.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{TaskQueue: flow.TaskQueue}, kind, in)
			if err != nil {
				b.Error(err)
				return
			}
			var end flow.Position
			if err := run.Get(b.Context(), &end); err != nil || end.NextAction != "commit" {
				b.Errorf("a workflow ends with %+v (%+v), %v", end, end.Failure, err)
			}
		})
	}
	running.Wait()
	return time.Since(begin)
}

// bareInput is the input of bare: its queues, and the number of steps.
type bareInput struct {
	Home, Work string
	Steps      int
}

// bare is a workflow with as many activities as a task.
func bare(ctx workflow.Context, in bareInput) (flow.Position, error) {
	end := flow.Position{NextAction: "commit"}
	for i := range 2*in.Steps + 1 {
		queue := in.Home
		if i%2 == 1 {
			queue = in.Work
		}
		o := workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute}
		if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), "nothing").Get(ctx, nil); err != nil {
			return end, err
		}
	}
	return end, nil
}

func nothing(context.Context) error { return nil }

// tuned are the flags of a dev server for many steps a second: without them it looks for
// work ten times a second for each task.
var tuned = []string{
	"--dynamic-config-value", "history.transferProcessorMaxPollRPS=1000",
	"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
	"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
}
