package command

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestAnEndIsNotADecision tests that the reason for the end of a task is not shown as the
// reason for its last decision.
func TestAnEndIsNotADecision(t *testing.T) {
	decided := flow.Position{Status: task.Open, Round: 2, MaxRounds: 3, Decision: "executor", Reason: "1 finding goes to executor"}
	stopped, failed, stuck, committed := decided, decided, decided, decided
	stopped.Status, stopped.NextAction, stopped.Reason = task.Stuck, "stuck", flow.Stopped
	failed.NextAction, failed.Reason = flow.ActionFailed, "fleet-draft-missing"
	stuck.Status, stuck.NextAction, stuck.Decision, stuck.Reason = task.Stuck, "stuck", "stuck", "max-rounds"
	committed.Status, committed.NextAction, committed.Decision, committed.Reason = task.Committed, "commit", "commit", "there are no findings"
	for name, c := range map[string]struct {
		before, at flow.Position
		want       string
	}{
		"decided":            {flow.Position{Status: task.Open}, decided, "notice  executor, round 2 of 3, because 1 finding goes to executor\n"},
		"stopped":            {decided, stopped, ""},
		"failed":             {decided, failed, ""},
		"stuck":              {decided, stuck, "notice  stuck, round 2 of 3, because max-rounds\n"},
		"committed":          {decided, committed, "notice  commit, round 2 of 3, because there are no findings\n"},
		"stopped, seen late": {flow.Position{Status: task.Open}, stopped, ""},
	} {
		var out strings.Builder
		a := &app{Program: cli.Program{Streams: cli.Streams{Out: &out, Err: &out}, Output: cli.OutputText}}
		if err := a.printChange(fleetTask{id: "T", at: c.at}, c.before, false); err != nil || out.String() != c.want {
			t.Errorf("%s: it prints %q, %v, want %q", name, out.String(), err, c.want)
		}
	}
}
