package worker_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/api"
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

// TestCommittedBefore runs a task again that is committed: the home knows the subject of the
// commit once it has fetched it.
func TestCommittedBefore(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	h.finish(t)
	subject := h.at.Subject
	h.advance(t, flow.Move{})
	if subject == "" || h.at.NextAction != "commit" || h.at.Subject != "" {
		t.Errorf("the task ends with %+v after a commit %q that was not fetched", h.at, subject)
	}
	h.git(t, h.path("project"), "fetch", "-q", h.path("remote.git"), "switchyard/T")
	if h.advance(t, flow.Move{}); h.at.Subject != subject {
		t.Errorf("the task ends with the subject %q, want %q", h.at.Subject, subject)
	}
}

// TestNextPhase begins a committed task again, with another worker: its branch starts from the
// commit, also if somebody has merged and deleted it on the remote.
func TestNextPhase(t *testing.T) {
	for name, deleted := range map[string]bool{"the branch is there": false, "the branch is deleted": true} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "", oneRound())
			h.advance(t, flow.Move{})
			h.finish(t)
			first := h.at.Commit
			if deleted {
				h.git(t, h.path("remote.git"), "branch", "-q", "-D", "switchyard/T")
			}
			if _, err := h.home(t).Engine.Start(t.Context(), "T", api.StartRequest{}); err != nil {
				t.Fatal(err)
			}
			h.advance(t, flow.Move{})
			for h.at.NextAction == "" {
				done := h.carry(t, "other")
				h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			}
			base := h.git(t, h.path("project"), "rev-parse", "main")
			if got, want := h.git(t, h.path("remote.git"), "rev-list", base+"..switchyard/T"), h.at.Commit+"\n"+first; got != want || h.at.Commit == first {
				t.Errorf("the remote's branch has %q, want %q", got, want)
			}
		})
	}
}
