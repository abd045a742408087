package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/metrics"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exporter"
)

// scrape serves the metrics and returns them as a scraper gets them.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- m.Serve(ctx, exporter.ServeOptions{Address: "127.0.0.1:0", Started: func(l exporter.Listening) { started <- l.URL }})
	}()
	answer, err := http.Get(<-started)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if stop(); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// wantClean requires that promtool finds nothing to complain about.
func wantClean(t *testing.T, text string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Log("not checked by promtool, which is not installed")
		return
	}
	cmd := exec.Command(path, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestEverythingStartsAtZero(t *testing.T) {
	text := scrape(t, metrics.New("v1.2.3"))
	wantLines(t, text,
		`switchyard_fleet_orders_total{kind="draft",outcome="done"} 0`,
		`switchyard_fleet_orders_total{kind="commit",outcome="failed"} 0`,
		`switchyard_fleet_order_duration_seconds_count{kind="review"} 0`)
	if !strings.Contains(text, `version="v1.2.3"} 1`) {
		t.Error(text)
	}
	wantClean(t, text)
}

func TestServeThatCannotListen(t *testing.T) {
	err := metrics.New("").Serve(t.Context(), exporter.ServeOptions{Address: "nowhere"})
	if errs.CodeOf(err) != errs.ListenFailed {
		t.Error(err)
	}
}

func TestDecisions(t *testing.T) {
	m := metrics.New("")
	m.Decided("executor")
	for i := range 100 {
		m.Decided(fmt.Sprint("destination ", i))
	}
	m.Decided("executor")
	if n := testutil.CollectAndCount(metrics.Registry(m), "switchyard_fleet_decisions_total"); n != 33 {
		t.Errorf("%d series", n)
	}
	wantLines(t, scrape(t, m),
		`switchyard_fleet_decisions_total{next_action="executor"} 2`,
		`switchyard_fleet_decisions_total{next_action="destination 30"} 1`,
		`switchyard_fleet_decisions_total{next_action="other"} 69`)
}

func TestOrders(t *testing.T) {
	m := metrics.New("")
	ctx, cancel := context.WithCancel(t.Context())
	run := func(name string, ctx context.Context, done flow.Done, err error) {
		var suite testsuite.WorkflowTestSuite
		environment := suite.NewTestActivityEnvironment()
		environment.SetWorkerOptions(worker.Options{
			BackgroundActivityContext: ctx, Interceptors: []interceptor.WorkerInterceptor{m.Orders()},
		})
		order := func(context.Context) (flow.Done, error) { return done, err }
		environment.RegisterActivityWithOptions(order, activity.RegisterOptions{Name: name})
		if _, got := environment.ExecuteActivity(name); (got == nil) != (err == nil) {
			t.Errorf("%s: %v", name, got)
		}
	}
	done, interrupted := flow.Done{Result: "sha256:r", Draft: "3f2a90c1d4e5"}, flow.Done{Result: "sha256:r"}
	run(flow.Draft, ctx, done, nil)
	run(flow.Draft, ctx, flow.Done{}, errors.New("the remote is away"))
	run(flow.Review, ctx, flow.Done{}, temporal.NewNonRetryableApplicationError("no such agent", "agent-not-found", nil))
	run(flow.Review, ctx, interrupted, nil)
	run(flow.Advance, ctx, flow.Done{}, nil)
	cancel()
	run(flow.Commit, ctx, flow.Done{}, ctx.Err())
	wantLines(t, scrape(t, m),
		`switchyard_fleet_orders_total{kind="draft",outcome="done"} 1`,
		`switchyard_fleet_orders_total{kind="draft",outcome="retried"} 1`,
		`switchyard_fleet_orders_total{kind="review",outcome="failed"} 1`,
		`switchyard_fleet_orders_total{kind="review",outcome="cancelled"} 1`,
		`switchyard_fleet_orders_total{kind="commit",outcome="cancelled"} 1`,
		`switchyard_fleet_order_duration_seconds_count{kind="draft"} 2`)
	if n := testutil.CollectAndCount(metrics.Registry(m), "switchyard_fleet_orders_total"); n != 20 {
		t.Errorf("%d series", n)
	}
}

func TestSDKMetrics(t *testing.T) {
	m := metrics.New("")
	h := m.SDK().WithTags(map[string]string{"task_queue": "q", "worker_type": "none"}).WithTags(map[string]string{"worker_type": "ActivityWorker"})
	h.Gauge("temporal_worker_task_slots_used").Update(3)
	h.Counter("temporal_worker_start").Inc(2)
	h.Timer("temporal_workflow_task_schedule_to_start_latency").Record(1500 * time.Millisecond)
	for i := range 1000 {
		foreign := h.WithTags(map[string]string{"activity_type": fmt.Sprint("foreign ", i)})
		foreign.Counter("temporal_unregistered_activity_invocation").Inc(1)
	}
	// A name that is not exported, and names of other kinds.
	h.Counter("temporal_local_activity_total").Inc(1)
	h.Counter("temporal_num_pollers").Inc(1)
	h.Gauge("temporal_request").Update(1)
	h.Timer("temporal_request").Record(time.Second)
	text := scrape(t, m)
	wantLines(t, text,
		`temporal_worker_task_slots_used{task_queue="q",worker_type="ActivityWorker"} 3`,
		`temporal_worker_start_total{task_queue="q",worker_type="ActivityWorker"} 2`,
		`temporal_workflow_task_schedule_to_start_latency_seconds_sum{task_queue="q"} 1.5`,
		`temporal_unregistered_activity_invocation_total{activity_type="other"} 1000`)
	if strings.Contains(text, "local_activity") || strings.Contains(text, "temporal_request") {
		t.Error(text)
	}
	wantClean(t, text)
}

// asked records the names of the metrics that the SDK asks for.
type asked struct {
	client.MetricsHandler
	mu    *sync.Mutex
	names map[string]bool
}

func (a asked) note(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names[name] = true
}

func (a asked) WithTags(tags map[string]string) client.MetricsHandler {
	return asked{a.MetricsHandler.WithTags(tags), a.mu, a.names}
}

func (a asked) Counter(name string) client.MetricsCounter {
	a.note(name)
	return a.MetricsHandler.Counter(name)
}

func (a asked) Gauge(name string) client.MetricsGauge {
	a.note(name)
	return a.MetricsHandler.Gauge(name)
}

func (a asked) Timer(name string) client.MetricsTimer {
	a.note(name)
	return a.MetricsHandler.Timer(name)
}

// TestWithAServer runs a workflow with an activity that fails once, and requires that each
// metric that the SDK has for it is exported.
func TestWithAServer(t *testing.T) {
	m := metrics.New("")
	a := asked{m.SDK(), new(sync.Mutex), make(map[string]bool)}
	server, err := client.DialContext(t.Context(), client.Options{HostPort: fleettest.Server(t).FrontendHostPort(), MetricsHandler: a})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	w := worker.New(server, flow.TaskQueue, worker.Options{
		Interceptors: []interceptor.WorkerInterceptor{m.Orders()},
		// The SDK counts a completed workflow after the server has it: Stop waits for that.
		WorkerStopTimeout: time.Minute,
	})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Millisecond},
		})
		return workflow.ExecuteActivity(ctx, flow.Draft).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: flow.Workflow})
	w.RegisterActivityWithOptions(func(ctx context.Context) (flow.Done, error) {
		if activity.GetInfo(ctx).Attempt == 1 {
			return flow.Done{}, errors.New("the first attempt fails")
		}
		return flow.Done{Result: "sha256:r", Draft: "3f2a90c1d4e5"}, nil
	}, activity.RegisterOptions{Name: flow.Draft})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	run, err := server.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: flow.TaskQueue}, flow.Workflow)
	if err == nil {
		err = run.Get(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	text := scrape(t, m)
	wantLines(t, text,
		`switchyard_fleet_orders_total{kind="draft",outcome="retried"} 1`,
		`switchyard_fleet_orders_total{kind="draft",outcome="done"} 1`,
		`temporal_workflow_completed_total{workflow_type="Task"} 1`,
		`temporal_activity_execution_failed_total{activity_type="Draft"} 1`,
		`temporal_activity_schedule_to_start_latency_seconds_count{activity_type="Draft",task_queue="switchyard-tasks"} 2`,
		`temporal_request_total{operation="StartWorkflowExecution"} 1`)
	wantClean(t, text)
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range a.names {
		// Of metrics by request and by attempt, only the former are exported.
		if !metrics.Exported(strings.TrimSuffix(name, "_attempt")) && !strings.HasPrefix(name, "temporal_nexus_") && !strings.HasPrefix(name, "temporal_local_activity_") {
			t.Errorf("%s is not exported", name)
		}
	}
	if len(a.names) < 15 {
		t.Errorf("only %d metrics were asked for", len(a.names))
	}
}
