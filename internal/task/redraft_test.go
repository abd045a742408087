package task_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// redrafts are what makes another draft of a round, without a word about it.
func redrafts() map[string]task.Command {
	return map[string]task.Command{
		"a verification begins": task.BeginVerification{},
		"the executor ran":      ran(task.AgentExecutor),
		"the build-fixer ran":   ran(task.AgentFixer),
	}
}

func TestAnotherDraftEndsWhatIsKnown(t *testing.T) {
	drafted := do(t, task.State{}, begin, ran(task.AgentExecutor), looked(""), task.RecordVerification{})
	ready := decide(t, do(t, drafted, ran(task.AgentCritic)), toCommit)
	for name, c := range redrafts() {
		t.Run(name, func(t *testing.T) {
			for what, before := range map[string]task.State{"drafted": drafted, "reviewed": ready} {
				s := do(t, before, c)
				if s.Round != 1 || s.Status != task.Open || s.Phase != task.Start || s.Verified != nil || s.CountStamps(task.AgentCritic) != 0 {
					t.Errorf("%s: %+v", what, s)
				}
				if verify, _ := s.VerificationOutcome("absent"); verify != "absent" {
					t.Errorf("%s: the next review goes by a verification that is %s", what, verify)
				}
				refuse(t, s, task.CommitTask{}, errs.CommitPreconditionMissing)
				refuse(t, s, toward(t, s, final(toCommit)), errs.CommitUnverified)
				if _, code := enter(s, task.RoundEntry{Phases: []task.Phase{task.Review}}); code != errs.EvidenceMissing {
					t.Errorf("%s: the critic of the draft before reviews this one: %q", what, code)
				}
				// What the round has besides stays, and so does its way to the commit.
				if s.CountStamps(task.AgentExecutor) == 0 || len(s.Searches) != 1 || s.NonAdvancing != before.NonAdvancing {
					t.Errorf("%s: %+v", what, s)
				}
				s = decide(t, do(t, s, task.RecordVerification{}, ran(task.AgentCritic)), toCommit)
				do(t, s, task.CommitTask{MustVerify: true})
			}
		})
	}
}

// TestVerifiedOnceMore: a reviewed draft that is verified again loses its
// verification, and nothing else; without one, there is nothing to lose.
func TestVerifiedOnceMore(t *testing.T) {
	open := do(t, task.State{}, begin, ran(task.AgentExecutor))
	nothing(t, open, task.BeginVerification{Same: true})
	s := do(t, open, task.RecordVerification{}, ran(task.AgentCritic), task.BeginVerification{Same: true})
	if s.Verified != nil || s.Phase != task.Draft || s.CountStamps(task.AgentCritic) != 1 || !s.Verifies {
		t.Errorf("%+v", s)
	}
	nothing(t, s, task.BeginVerification{Same: true})
}

// TestAFirstVerificationIsWanted: once one has begun, however it ends, nothing is
// committed without it.
func TestAFirstVerificationIsWanted(t *testing.T) {
	s := do(t, task.State{}, begin, ran(task.AgentExecutor), task.BeginVerification{})
	refuse(t, s, toward(t, s, final(toCommit)), errs.CommitUnverified)
}

func TestAnotherDraftKeepsThePhaseBeforeIt(t *testing.T) {
	s := do(t, task.State{}, begin, ran(task.AgentTester), ran(task.AgentCritic),
		task.CompletePhase{Phase: task.Tests, Required: 1, Tests: []string{"a_test.go"}}, task.BeginVerification{})
	if s.Phase != task.Tests || len(s.Tests) != 1 || s.CountStamps(task.AgentTester) != 1 || s.CountStamps(task.AgentCritic) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAReviewAloneIsKnown: a round that is decided in one step has no draft of
// its own, and its review is about one all the same.
func TestAReviewAloneIsKnown(t *testing.T) {
	s := decide(t, do(t, task.State{}, begin), toCommit)
	if s = do(t, s, task.BeginVerification{}); s.Phase != task.Start || s.Last == nil || s.Last.NextAction != "commit" {
		t.Errorf("%+v", s)
	}
	refuse(t, s, task.CommitTask{}, errs.CommitPreconditionMissing)
	refuse(t, s, begin, errs.TaskStarted)
}
