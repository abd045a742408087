package worker_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestLostCommit has a worker that pushes a task's commit, and a workflow that ends before
// it has the result: it was stopped, or ended from outside. If the task is run again, it is
// committed by the one commit.
func TestLostCommit(t *testing.T) {
	for name, stop := range map[string]string{"stopped": flow.Stopped, "ended from outside": ""} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "", oneRound())
			h.advance(t, flow.Move{})
			for h.at.Step.Kind != task.StepCommit {
				done := h.carry(t, "worker")
				h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			}
			h.carry(t, "worker")
			if stop != "" {
				h.advance(t, flow.Move{Stop: stop})
			}
			h.advance(t, flow.Move{})
			h.finish(t)
			h.wantCommitted(t, "executor", "critic")
		})
	}
}
