package task_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/host/task"
)

// redrafts are what makes another draft of a round, without a word about it.
func redrafts() map[string]task.Command {
	return map[string]task.Command{
		"a verification begins": task.Redraft{},
		"the executor ran":      ran(task.AgentExecutor),
		"the build-fixer ran":   ran(task.AgentFixer),
	}
}

func TestAnotherDraftEndsWhatIsKnown(t *testing.T) {
	drafted := do(t, task.State{}, begin, ran(task.AgentExecutor), looked(""), task.Verify{})
	ready := decide(t, do(t, drafted, ran(task.AgentCritic)), toCommit)
	for name, c := range redrafts() {
		t.Run(name, func(t *testing.T) {
			for what, before := range map[string]task.State{"drafted": drafted, "reviewed": ready} {
				s := do(t, before, c)
				if s.Round != 1 || s.Status != task.Open || s.Phase != task.Start || s.Verified != nil || s.Found(task.AgentCritic) != 0 {
					t.Errorf("%s: %+v", what, s)
				}
				if verify, _ := s.Green("absent"); verify != "absent" {
					t.Errorf("%s: the next review goes by a verification that is %s", what, verify)
				}
				refuse(t, s, task.Finish{}, task.CodeNotReady)
				refuse(t, s, toward(t, s, final(toCommit)), task.CodeUnverified)
				if _, code := enter(s, task.Entry{Phases: []task.Phase{task.Review}}); code != task.CodeEvidence {
					t.Errorf("%s: the critic of the draft before reviews this one: %q", what, code)
				}
				// What the round has besides stays, and so does its way to the commit.
				if s.Found(task.AgentExecutor) == 0 || len(s.Searches) != 1 || s.Kept != before.Kept {
					t.Errorf("%s: %+v", what, s)
				}
				s = decide(t, do(t, s, task.Verify{}, ran(task.AgentCritic)), toCommit)
				do(t, s, task.Finish{MustVerify: true})
			}
		})
	}
}

func TestNothingIsKnownOfAFirstDraft(t *testing.T) {
	open := do(t, task.State{}, begin)
	researched := do(t, open, ran(task.AgentResearcher), task.Prepare{Phase: task.Research, Required: 1})
	drafted := do(t, researched, ran(task.AgentExecutor))
	for name, s := range map[string]task.State{
		"nobody knows the task":     {},
		"begun":                     open,
		"prepared":                  researched,
		"the executor has run":      drafted,
		"the next round":            decide(t, do(t, drafted, task.Verify{}, ran(task.AgentCritic)), toExecutor),
		"after another such":        do(t, drafted, task.Verify{}, task.Redraft{}),
		"the critic is used up":     do(t, drafted, ran(task.AgentCritic), ran(task.AgentExecutor)),
		"a draft that was prepared": do(t, drafted, task.Verify{}, task.Prepare{Phase: task.Research, Required: 1}, ran(task.AgentExecutor)),
	} {
		t.Run(name, func(t *testing.T) { nothing(t, s, task.Redraft{}) })
	}
}

func TestAnotherDraftKeepsThePhaseBeforeIt(t *testing.T) {
	s := do(t, task.State{}, begin, ran(task.AgentTester), ran(task.AgentCritic),
		task.Prepare{Phase: task.Tests, Required: 1, Tests: []string{"a_test.go"}}, task.Redraft{})
	if s.Phase != task.Tests || len(s.Tests) != 1 || s.Found(task.AgentTester) != 1 || s.Found(task.AgentCritic) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAReviewAloneIsKnown: a round that is decided in one step has no draft of
// its own, and its review is about one all the same.
func TestAReviewAloneIsKnown(t *testing.T) {
	s := decide(t, do(t, task.State{}, begin), toCommit)
	if s = do(t, s, task.Redraft{}); s.Phase != task.Start || s.Last == nil || s.Last.NextAction != "commit" {
		t.Errorf("%+v", s)
	}
	refuse(t, s, task.Finish{}, task.CodeNotReady)
	refuse(t, s, begin, task.CodeStarted)
}
