package task_test

import (
	"fmt"
	"testing"

	"github.com/switchyard-dev/switchyard/host/task"
)

func TestAReviewOfAnOlderDraftDoesNotCount(t *testing.T) {
	clean := toCommit
	clean.Evidence = []string{"sha256:a"}
	s := do(t, task.State{}, begin, ran(task.AgentExecutor), task.Verify{}, ran(task.AgentCritic))
	s = do(t, decide(t, s, clean), task.Verify{})
	if _, code := enter(s, task.Entry{Phases: []task.Phase{task.Review}}); code != task.CodeEvidence {
		t.Errorf("the critic of the first draft reviews the second: %q", code)
	}
	refuse(t, s, toward(t, s, final(clean)), task.CodeReplayed)
}

func TestALateViolationIsNotCommittedOver(t *testing.T) {
	s := do(t, decide(t, do(t, task.State{}, begin), toCommit), audited(task.AgentExecutor))
	refuse(t, s, task.Finish{}, task.CodeNotReady)
	refuse(t, s, toward(t, s, final(toCommit)), task.CodeNotReady)
}

func TestAStateIsBounded(t *testing.T) {
	s := do(t, task.State{}, begin)
	for i := range 256 {
		o := toPlanChecker
		o.Evidence = []string{fmt.Sprint("sha256:", i)}
		s = decide(t, s, o)
	}
	o := toPlanChecker
	o.Evidence = []string{"sha256:x"}
	refuse(t, s, toward(t, s, o), task.CodeTooMany)
	refuse(t, s, task.Prepare{Phase: task.Tests, Tests: make([]string, 257), Force: force}, task.CodeTooMany)
}

func TestAProjectsCapEndsAtTheHighest(t *testing.T) {
	s := do(t, task.State{}, task.Begin{Fallback: 100}, task.Halt{})
	for _, c := range []task.Command{task.Begin{Fallback: 100}, task.Resume{Mode: task.Replan, Fallback: 100}} {
		if next := do(t, s, c); next.MaxRounds != 100 {
			t.Errorf("cap %d", next.MaxRounds)
		}
	}
}

func TestARunIsUsedUpOnce(t *testing.T) {
	c := ran(task.AgentCritic)
	c.Run = "r1"
	s := do(t, task.State{}, begin, ran(task.AgentExecutor), c)
	nothing(t, decide(t, s, toPlanChecker), c)
	nothing(t, do(t, s, task.Verify{}), c)
	do(t, decide(t, s, toExecutor), c)
}
