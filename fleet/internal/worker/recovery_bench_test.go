package worker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/home"
	fleetworker "github.com/switchyard-dev/switchyard/fleet/internal/worker"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Variables of the process of a worker.
const (
	serverVariable = "SWITCHYARD_TEST_SERVER"
	siteVariable   = "SWITCHYARD_TEST_SITE"
	scriptVariable = "SWITCHYARD_TEST_SCRIPT"
	agentVariable  = "SWITCHYARD_TEST_AGENT"
)

// TestWorkerProcess is the process of a worker, which BenchmarkRecovery kills.
func TestWorkerProcess(t *testing.T) {
	address := os.Getenv(serverVariable)
	if address == "" {
		t.Skip("it is a process of BenchmarkRecovery")
	}
	s := &site{dir: os.Getenv(siteVariable), script: os.Getenv(scriptVariable), agent: os.Getenv(agentVariable)}
	var err error
	if s.keeper, err = supervise.New(); err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(client.Options{HostPort: address})
	if err != nil {
		t.Fatal(err)
	}
	s.carry(t, c, "first")
	<-t.Context().Done()
}

// carry starts a real worker for orders of Claude, and for orders without an agent.
func (s *site) carry(t testing.TB, c client.Client, dir string) {
	t.Helper()
	carrier := &fleetworker.Worker{
		Store: s.store(t), Dir: s.path(dir), Environ: s.environ(), Supervisor: s.keeper,
		Plugins: plugins.Config{CacheDir: s.path("cache")}, Warn: func(err error) { t.Logf("a warning: %v", err) },
	}
	for _, adapter := range []string{"claude", flow.AnyAdapter} {
		w := worker.New(c, flow.WorkQueue(adapter, "none"), worker.Options{})
		fleetworker.Register(w, carrier)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
}

// BenchmarkRecovery measures how long it takes until an order begins again whose worker was
// killed while its agent ran. Another worker waits for orders.
func BenchmarkRecovery(b *testing.B) {
	const heartbeat = 5 * time.Second
	server := fleettest.Server(b)
	s := newSite(b, "spawn: {retries: 0}\n", roles{
		"executor": {fakeagent.Edits(fakeagent.Step{Sleep: fakeagent.Duration(10 * time.Second)})}, "critic": {fakeagent.Clean()},
	})
	c := server.Client()
	serve(b, c, flow.HomeQueue("shop"), home.Options(), func(w worker.Worker) { home.Register(w, s.home(b)) })
	serve(b, c, flow.TaskQueue, worker.Options{}, func(w worker.Worker) {
		w.RegisterWorkflowWithOptions(flow.Task, workflow.RegisterOptions{Name: flow.Workflow})
	})
	first := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestWorkerProcess$")
	first.Env = append(os.Environ(), serverVariable+"="+server.FrontendHostPort(), siteVariable+"="+s.dir, scriptVariable+"="+s.script, agentVariable+"="+s.agent)
	if err := first.Start(); err != nil {
		b.Fatal(err)
	}
	in := s.request(b, api.RunRequest{Prompt: "Handle the empty list."})
	in.Heartbeat = heartbeat
	run, err := c.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{TaskQueue: flow.TaskQueue}, flow.Workflow, in)
	if err != nil {
		b.Fatal(err)
	}
	for {
		if begun, err := filepath.Glob(s.script + ".calls/*"); err != nil || len(begun) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.carry(b, c, "second")
	if err := first.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	_ = first.Wait() // It was killed.
	for {
		now, err := c.DescribeWorkflowExecution(b.Context(), run.GetID(), run.GetRunID())
		if err != nil {
			b.Fatal(err)
		}
		if p := now.GetPendingActivities(); len(p) == 1 && p[0].GetAttempt() > 1 && p[0].GetLastStartedTime().AsTime().After(begin) {
			b.ReportMetric(p[0].GetLastStartedTime().AsTime().Sub(begin).Seconds(), "s/recovery")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var end flow.Position
	if err := run.Get(b.Context(), &end); err != nil || end.NextAction != "commit" {
		b.Errorf("the task ends with %+v, %v", end, err)
	}
}
