package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// hangs is a script whose first agent does not end. The other calls are as in an undisturbed
// task.
func hangs() fakeagent.Script {
	return fakeagent.Script{Calls: []fakeagent.Scenario{
		fakeagent.Edits(fakeagent.Step{Hang: true}), fakeagent.Edits(), fakeagent.Clean(),
	}}
}

// called waits until an agent runs and the server knows of it, and returns its process id.
func (f *fleet) called(run client.WorkflowRun) int {
	f.Helper()
	until(f, "an agent runs", func() bool { return len(fakeagent.Calls(f, f.script)) > 0 })
	until(f, "the server knows of the agent", func() bool {
		task, err := f.client.DescribeWorkflowExecution(f.Context(), run.GetID(), run.GetRunID())
		if err != nil {
			f.Fatal(err)
		}
		for _, a := range task.PendingActivities {
			var agents []flow.Progress
			if err := converter.GetDefaultDataConverter().FromPayloads(a.HeartbeatDetails, &agents); err == nil && len(agents) > 0 {
				return true
			}
		}
		return false
	})
	return fakeagent.Calls(f, f.script)[0].PID
}

// gone waits until an agent has ended.
func (f *fleet) gone(pid int) {
	f.Helper()
	until(f, "the agent ends", func() bool { return !exists(pid) })
}

// TestWorkerKilled kills a worker in the middle of its agent. The agent ends with it, its
// run is recorded as lost, and another worker repeats the order.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	f := newFleet(t, hangs())
	f.home().ready()
	one := f.worker("one", f.address)
	run := f.begin("T")
	agent := f.called(run)
	one.kill()
	f.gone(agent)
	f.worker("two", f.address)
	f.pushed("T", f.committed(run))
	if got := outcomes(f.events()["T"]); !slices.Equal(got, []string{"lost", "edited", "clean"}) {
		t.Errorf("the agents ended as %q", got)
	}
}

// TestWorkerRestarted kills a worker whose agent leaves a process that ignores signals and
// writes files, and starts it again. The repeated order gets none of these files.
func TestWorkerRestarted(t *testing.T) {
	t.Parallel()
	script := hangs()
	writes := "trap '' TERM INT HUP; while :; do date > late.txt; sleep 0.01; done"
	script.Calls[0] = fakeagent.Edits(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"setsid", "-f", "sh", "-c", writes}}}, fakeagent.Step{Hang: true})
	f := newFleet(t, script)
	f.home().ready()
	one := f.worker("one", f.address)
	run := f.begin("T")
	f.called(run)
	one.kill()
	f.worker("one", f.address)
	p := f.committed(run)
	if files := f.git("-C", f.path("remote.git"), "ls-tree", "--name-only", p.Commit); strings.Contains(files, "late.txt") {
		t.Errorf("the commit has %q", files)
	}
}

// TestWorkerDrained stops a worker in the middle of its agent. The usage of the agent is
// recorded, and another worker continues.
func TestWorkerDrained(t *testing.T) {
	t.Parallel()
	f := newFleet(t, hangs())
	f.home().ready()
	one := f.worker("one", f.address)
	run := f.begin("T")
	agent := f.called(run)
	f.worker("two", f.address)
	if code := one.stop(); code != 0 {
		t.Errorf("the worker exits with %d", code)
	}
	f.gone(agent)
	f.pushed("T", f.committed(run))
	if got := outcomes(f.events()["T"]); len(got) != 3 || !slices.Equal(got[1:], []string{"edited", "clean"}) {
		t.Errorf("the agents ended as %q", got)
	}
}

// TestNetworkCut cuts a worker off from the server for longer than the heartbeat timeout.
// Another worker repeats its order. The agent of the first worker ends after that, and its
// result is dropped. A run that follows the task warns once and continues.
func TestNetworkCut(t *testing.T) {
	t.Parallel()
	script := hangs()
	script.Calls[0] = fakeagent.Edits(fakeagent.Step{Await: &fakeagent.Await{File: "go"}})
	f := newFleet(t, script)
	f.home().ready()
	network := newNetwork(t, f.address)
	one := f.worker("one", network.address)
	run := f.begin("T")
	agent := f.called(run)
	dir := fakeagent.Calls(t, f.script)[0].Dir
	follow := f.start("run", program("switchyard-fleet"), "run", "T", "--store", f.path("store"), "--address", network.address)
	until(t, "run shows the task", func() bool { return strings.Contains(follow.output(), "begun by its home") })
	network.cut()
	f.worker("two", f.address)
	p := f.committed(run)
	f.write(strings.TrimPrefix(dir, f.dir)+"/go", "")
	f.gone(agent)
	until(t, "run says that it waits", func() bool { return strings.Contains(follow.output(), "tries again") })
	network.restore()
	if code := follow.wait(); code != 0 || strings.Count(follow.output(), "tries again") != 1 {
		t.Errorf("run exits with %d:\n%s", code, follow.output())
	}
	if code := one.stop(); code != 0 {
		t.Errorf("the worker exits with %d", code)
	}
	f.pushed("T", p)
	if got := outcomes(f.events()["T"]); !slices.Equal(got, []string{"lost", "edited", "clean"}) {
		t.Errorf("the agents ended as %q", got)
	}
}
