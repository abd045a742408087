package task_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// redrafts returns the commands that make another draft without announcing it.
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
				if s.Round != 1 || s.Status != task.Open || s.Phase != task.Start || s.Verified != nil || s.CountAttestations(task.AgentCritic) != 0 {
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
				// The round's other evidence stays, and so does its way to the commit.
				if s.CountAttestations(task.AgentExecutor) == 0 || len(s.Searches) != 1 || s.NonAdvancing != before.NonAdvancing {
					t.Errorf("%s: %+v", what, s)
				}
				s = decide(t, do(t, s, task.RecordVerification{}, ran(task.AgentCritic)), toCommit)
				do(t, s, task.CommitTask{MustVerify: true})
			}
		})
	}
}

// TestVerifiedOnceMore checks that a reviewed draft that is verified again loses only its
// verification.
func TestVerifiedOnceMore(t *testing.T) {
	open := do(t, task.State{}, begin, ran(task.AgentExecutor))
	nothing(t, open, task.BeginVerification{Same: true})
	s := do(t, open, task.RecordVerification{}, ran(task.AgentCritic), task.BeginVerification{Same: true})
	if s.Verified != nil || s.Phase != task.Draft || s.CountAttestations(task.AgentCritic) != 1 || !s.Verifies {
		t.Errorf("%+v", s)
	}
	nothing(t, s, task.BeginVerification{Same: true})
}

// TestAFirstVerificationIsWanted checks that once a verification has begun, a commit
// needs one, however it ended.
func TestAFirstVerificationIsWanted(t *testing.T) {
	s := do(t, task.State{}, begin, ran(task.AgentExecutor), task.BeginVerification{})
	refuse(t, s, toward(t, s, final(toCommit)), errs.CommitUnverified)
}

func TestAnotherDraftKeepsThePhaseBeforeIt(t *testing.T) {
	s := do(t, task.State{}, begin, ran(task.AgentTester), ran(task.AgentCritic),
		task.CompletePhase{Phase: task.Tests, Required: 1, Tests: []string{"a_test.go"}}, task.BeginVerification{})
	if s.Phase != task.Tests || len(s.Tests) != 1 || s.CountAttestations(task.AgentTester) != 1 || s.CountAttestations(task.AgentCritic) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAReviewAloneIsKnown checks that a round that is decided in one step counts as a
// review.
func TestAReviewAloneIsKnown(t *testing.T) {
	s := decide(t, do(t, task.State{}, begin), toCommit)
	if s = do(t, s, task.BeginVerification{}); s.Phase != task.Start || s.Last == nil || s.Last.NextAction != "commit" {
		t.Errorf("%+v", s)
	}
	refuse(t, s, task.CommitTask{}, errs.CommitPreconditionMissing)
	refuse(t, s, begin, errs.TaskStarted)
}
