package worker_test

import (
	"encoding/json"
	"errors"
	"testing"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	fleetworker "github.com/switchyard-dev/switchyard/fleet/internal/worker"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestForeignOrders tests that an order that no home gave ends at once, and leaves nothing
// outside of the worker's directory.
func TestForeignOrders(t *testing.T) {
	s := newSite(t, "", nil)
	for name, c := range map[string]struct {
		project, task string
		blob          any
		want          errs.Code
	}{
		"no order":        {"shop", "T", "text", errs.OrderStale},
		"an empty order":  {"shop", "T", orderstore.Order{}, errs.OrderStale},
		"another branch":  {"shop", "T", orderstore.Order{Order: host.Order{Task: "T", Branch: task.Branch{Name: "main"}}}, errs.OrderStale},
		"a parent":        {"shop", "T", orderstore.Order{Order: host.Order{Task: "T", Branch: task.Branch{Name: ".."}}}, errs.OrderStale},
		"another task":    {"shop", "U", orderstore.Order{Order: host.Order{Task: "T", Branch: task.Branch{Name: "switchyard/U"}}}, errs.OrderStale},
		"another project": {"../shop", "T", orderstore.Order{}, errs.TaskInvalidID},
		"another ref":     {"shop", "../../heads/main", orderstore.Order{}, errs.TaskInvalidID},
		"NUL":             {"shop", "T\x00", orderstore.Order{}, errs.TaskInvalidID},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(c.blob)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := s.store(t).Put(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			fleetworker.Register(env, &fleetworker.Worker{Store: s.store(t), Dir: s.path("worker"), Environ: s.environ(), Supervisor: s.keeper})
			_, err = env.ExecuteActivity(flow.Draft, flow.Order{Project: c.project, Task: c.task, Digest: sum})
			got, ok := errors.AsType[*temporal.ApplicationError](err)
			if !ok || errs.Code(got.Type()) != c.want || !got.NonRetryable() {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
