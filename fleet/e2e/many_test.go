package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/switchyard-dev/switchyard/fleet/internal/fleettest"
	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/fleet/internal/orderstore"
	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// first is the task that real workers carry out, undisturbed.
const first = "T000"

// reviewed is a script of agents whose first draft has a finding.
func reviewed() fakeagent.Script {
	finding := fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "a.go", Line: 1, Remediation: "Test the empty list"}
	return fakeagent.Script{
		Calls: []fakeagent.Scenario{fakeagent.Clean()},
		Roles: map[string][]fakeagent.Scenario{
			"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}, "critic": {fakeagent.Finds(finding), fakeagent.Clean()},
		},
	}
}

// playOn runs the first task with a real worker, and then carries out the orders of all
// others with its results: a hundred tasks with agents and git would take a small machine
// too long. It returns the kinds of the first task's events.
func (f *fleet) playOn() (kinds []string) {
	f.Helper()
	w := f.worker("worker", f.address)
	run := f.begin(first)
	f.pushed(first, f.committed(run))
	w.stop()
	results := f.results(run)
	script := &fleettest.Script{Work: func(ctx context.Context, kind string, o flow.Order) (flow.Done, error) {
		text, ok := results[fmt.Sprint(kind, o.Round)]
		if !ok {
			return flow.Done{}, fmt.Errorf("%s had no order to %s in round %d", first, kind, o.Round)
		}
		var result host.OrderResult
		if err := json.Unmarshal([]byte(strings.ReplaceAll(text, first, o.Task)), &result); err != nil {
			return flow.Done{}, err
		}
		sum, err := orderstore.Put(ctx, f.store, result)
		return flow.Done{Result: sum, Draft: strings.Repeat("d", 40)}, err
	}}
	script.Serve(f, f.client, flow.TaskQueue, flow.WorkQueue("claude", confinement.None), flow.WorkQueue(flow.AnyAdapter, confinement.None))
	return kindsOf(f.events()[first])
}

// results returns the results of a task's orders, by kind and round.
func (f *fleet) results(run client.WorkflowRun) map[string]string {
	f.Helper()
	results, started := make(map[string]string), make(map[int64]string)
	history := f.client.GetWorkflowHistory(f.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		ev, err := history.Next()
		f.must(err)
		if at := ev.GetActivityTaskScheduledEventAttributes(); at != nil && at.ActivityType.Name != flow.Advance {
			var o flow.Order
			f.must(converter.GetDefaultDataConverter().FromPayloads(at.Input, &o))
			started[ev.EventId] = fmt.Sprint(at.ActivityType.Name, o.Round)
		}
		at := ev.GetActivityTaskCompletedEventAttributes()
		if key := started[at.GetScheduledEventId()]; key != "" {
			var done flow.Done
			f.must(converter.GetDefaultDataConverter().FromPayloads(at.Result, &done))
			r, err := orderstore.Get[host.OrderResult](f.Context(), f.store, done.Result)
			f.must(err)
			text, err := json.Marshal(r)
			f.must(err)
			results[key] = string(text)
		}
	}
	return results
}

// must fails the test with an error.
func (f *fleet) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func kindsOf(events []event) []string {
	var kinds []string
	for _, ev := range events {
		kinds = append(kinds, ev.Kind)
	}
	return kinds
}

// many runs tasks while something is killed, and fails unless each has the events of the
// undisturbed one, neither fewer nor more.
func (f *fleet) many(n int, want []string, kill func()) (runs []client.WorkflowRun) {
	f.Helper()
	for i := range n {
		runs = append(runs, f.begin(fmt.Sprintf("T%03d", i+1)))
	}
	kill()
	for _, run := range runs {
		f.committed(run)
	}
	events := f.events()
	for i := range n {
		id := fmt.Sprintf("T%03d", i+1)
		if got := kindsOf(events[id]); !slices.Equal(got, want) {
			f.Errorf("%s has the events\n%q, want\n%q", id, got, want)
		}
	}
	return runs
}

// repeated returns how many activities of tasks ended in a second attempt or a later one.
func (f *fleet) repeated(runs []client.WorkflowRun) (n int) {
	f.Helper()
	for _, run := range runs {
		history := f.client.GetWorkflowHistory(f.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for history.HasNext() {
			ev, err := history.Next()
			f.must(err)
			if ev.GetActivityTaskStartedEventAttributes().GetAttempt() > 1 {
				n++
			}
		}
	}
	return n
}

// TestServerKilled kills the server three times while a hundred tasks run.
func TestServerKilled(t *testing.T) {
	f := newFleet(t, reviewed())
	f.home().ready()
	f.many(100, f.playOn(), func() {
		for range 3 {
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
			f.server.kill()
			f.serve()
		}
	})
}

// nextHome starts a home after one that was killed. It is started again, as its unit does,
// if it is refused because the lock of the killed one is not free yet.
func (f *fleet) nextHome() (home *process) {
	f.Helper()
	until(f, "another home is ready", func() bool {
		home = f.home()
		until(f, "the home is ready or ends", func() bool { return home.hasEnded() || strings.Contains(home.output(), "switchyard-fleet: ready") })
		if home.hasEnded() && !strings.Contains(home.output(), string(errs.FleetHomeRunning)) {
			f.Fatalf("the home ends:\n%s", home.output())
		}
		return !home.hasEnded()
	})
	return home
}

// TestHomeKilled kills the home ten times while tasks are decided. At least one decision
// must have been disturbed, or the test shows nothing.
func TestHomeKilled(t *testing.T) {
	f := newFleet(t, reviewed())
	home := f.home().ready()
	runs := f.many(60, f.playOn(), func() {
		for range 10 {
			time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
			home.kill()
			home = f.nextHome()
		}
	})
	if f.repeated(runs) == 0 {
		t.Error("no kill was in the middle of anything")
	}
}
