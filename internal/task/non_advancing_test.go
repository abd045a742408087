package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

func TestAReviewOfAnOlderDraftDoesNotCount(t *testing.T) {
	clean := toCommit
	clean.Evidence = []string{"sha256:a"}
	s := do(t, task.State{}, begin, ran(task.AgentExecutor), task.RecordVerification{}, ran(task.AgentCritic))
	s = do(t, decide(t, s, clean), task.RecordVerification{})
	if _, code := enter(s, task.RoundEntry{Phases: []task.Phase{task.Review}}); code != errs.EvidenceMissing {
		t.Errorf("the critic of the first draft reviews the second: %q", code)
	}
	err := refuse(t, s, toward(t, s, final(clean)), errs.ReportReplayed)
	if err.Details["digest"] != "sha256:a" {
		t.Errorf("details %v", err.Details)
	}
	// Its critic has run again, with the same result.
	again := decide(t, do(t, s, ran(task.AgentCritic)), final(verified(clean, "green")))
	if again.Status != task.Committed {
		t.Errorf("%+v", again)
	}
}

func TestAReportMaySendATaskOnTwice(t *testing.T) {
	report := toPlanChecker
	report.Evidence = []string{"sha256:a", "sha256:b"}
	s := decide(t, decide(t, do(t, task.State{}, begin), report), report)
	if s.Round != 1 || !slices.Equal(s.Evidence, report.Evidence) {
		t.Errorf("round %d knows the reports %v", s.Round, s.Evidence)
	}
	clean := toCommit
	clean.Evidence = []string{"sha256:c", "sha256:b"}
	refuse(t, s, toward(t, s, clean), errs.ReportReplayed)
	refuse(t, s, toward(t, s, final(clean)), errs.ReportReplayed)
	clean.Evidence = []string{"sha256:c"}
	decide(t, s, final(clean))
	// In the next round it is a report like any other.
	if s = decide(t, s, toExecutor); len(s.Evidence) != 0 {
		t.Errorf("round %d knows the reports %v", s.Round, s.Evidence)
	}
}

func TestALoopWithinARoundHasAnEnd(t *testing.T) {
	s := do(t, task.State{}, begin) // three rounds
	for round := 1; round <= 3; round++ {
		for range 2 {
			if s = decide(t, s, toPlanChecker); s.Round != round {
				t.Fatalf("round %d ends too soon", round)
			}
		}
		if s = decide(t, s, toPlanChecker); s.Round != round+1 || s.NonAdvancing != 0 || s.Status != task.Open {
			t.Fatalf("after three decisions of round %d: %+v", round, s)
		}
	}
	t.Run("a question ends it too", func(t *testing.T) {
		s := decide(t, decide(t, decide(t, do(t, task.State{}, begin), toPlanChecker), toPlanChecker), asking(false, which))
		if s.Round != 2 || s.Status != task.Waiting || s.Questions.Round != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("what ends the task never counts", func(t *testing.T) {
		s := decide(t, decide(t, decide(t, do(t, task.State{}, begin), toCommit), toCommit), toCommit)
		if s = decide(t, s, toPlanChecker); s.Round != 1 {
			t.Errorf("three reviews that allowed the commit ended the round: %+v", s)
		}
		s = decide(t, decide(t, s, toPlanChecker), final(toCommit))
		if s.Round != 1 || s.Status != task.Committed {
			t.Errorf("%+v", s)
		}
	})
	t.Run("it is the task's cap that counts", func(t *testing.T) {
		if s := decide(t, do(t, task.State{}, task.StartWork{MaxRounds: 1, HardCap: 9}), toPlanChecker); s.Round != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestALateViolationIsNotCommittedOver(t *testing.T) {
	s := do(t, decide(t, do(t, task.State{}, begin), toCommit), audited(task.AgentExecutor))
	refuse(t, s, task.CommitTask{}, errs.CommitPreconditionMissing)
	refuse(t, s, toward(t, s, final(toCommit)), errs.CommitPreconditionMissing)
}

func TestAStateIsBounded(t *testing.T) {
	s := do(t, task.State{}, begin)
	o := toPlanChecker
	for i := range 257 {
		o.Evidence = append(o.Evidence, fmt.Sprint("sha256:", i))
	}
	refuse(t, s, toward(t, s, o), errs.StampsTooMany)
	o.Evidence = o.Evidence[:256]
	s = decide(t, s, o)
	o.Evidence = []string{"sha256:x"}
	refuse(t, s, toward(t, s, o), errs.StampsTooMany)
	files := task.CompletePhase{Phase: task.Tests, Force: force}
	for i := range 257 {
		files.Tests = append(files.Tests, fmt.Sprintf("%d_test.go", i))
	}
	refuse(t, s, files, errs.StampsTooMany)
	files.Tests = files.Tests[:256]
	s = do(t, s, files, files)
	files.Tests = []string{"x_test.go"}
	refuse(t, s, files, errs.StampsTooMany)
}

func TestRunsAreBounded(t *testing.T) {
	t.Run("so many are open at a time", func(t *testing.T) {
		s := do(t, task.State{}, begin, spawning(many(15)...))
		refuse(t, s, spawning(critic("a"), critic("b")), errs.StampsTooMany)
		s = do(t, s, spawning(critic("a")))
		err := refuse(t, s, spawning(critic("b")), errs.StampsTooMany)
		if err.Details["limit"] != task.MaxOpenRuns {
			t.Errorf("details %v", err.Details)
		}
		do(t, s, ended("a"), spawning(critic("b")))
		// Open runs of the previous round use the machine as well.
		refuse(t, decide(t, s, toExecutor), spawning(critic("b")), errs.StampsTooMany)
	})
	t.Run("outside any task there may be more", func(t *testing.T) {
		s := do(t, task.State{}, spawning(many(256)...))
		refuse(t, s, spawning(byHand("a")), errs.StampsTooMany)
		refuse(t, s, spawning(critic("a")), errs.StampsTooMany)
		do(t, s, ended("run-7"), spawning(byHand("a")))
	})
	t.Run("a round lists so many", func(t *testing.T) {
		s := do(t, task.State{}, begin)
		for i := range 256 {
			id := fmt.Sprint("run-", i)
			s = do(t, s, spawning(critic(id)), ended(id))
		}
		refuse(t, s, spawning(critic("a")), errs.StampsTooMany)
		do(t, decide(t, s, toExecutor), spawning(critic("a")))
	})
	t.Run("outside any task none stays", func(t *testing.T) {
		s := task.State{}
		for i := range 300 {
			id := fmt.Sprint("run-", i)
			s = do(t, s, spawning(byHand(id)), ended(id))
		}
		if len(s.Runs) != 0 || s.Spent.Runs != 300 {
			t.Errorf("%d runs are kept of %d", len(s.Runs), s.Spent.Runs)
		}
	})
}

// many returns n runs to announce at once.
func many(n int) []task.Intent {
	var intents []task.Intent
	for i := range n {
		intents = append(intents, byHand(fmt.Sprint("run-", i)))
	}
	return intents
}

func TestAProjectsCapEndsAtTheHighest(t *testing.T) {
	s := do(t, task.State{}, task.StartWork{Fallback: 100}, task.StopTask{})
	for _, c := range []task.Command{task.StartWork{Fallback: 100}, task.ResumeTask{Mode: task.Replan, Fallback: 100}} {
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
	nothing(t, do(t, s, task.RecordVerification{}), c)
	nothing(t, do(t, s, task.BeginVerification{}), c)
	nothing(t, do(t, s, ran(task.AgentExecutor)), c)
	do(t, decide(t, s, toExecutor), c)
}

func TestNamesAreBounded(t *testing.T) {
	s := do(t, task.State{}, begin)
	long := strings.Repeat("x", 1025)
	run, files := ran(task.AgentCritic), task.CompletePhase{Phase: task.Tests, Force: force}
	run.Run, files.Tests = long, []string{"a_test.go", long}
	refuse(t, s, run, errs.NameTooLong)
	refuse(t, s, files, errs.NameTooLong)
	run.Run, files.Tests[1] = long[1:], long[1:]
	do(t, s, run, files)
	for name, edit := range map[string]func(*task.Intent, string){
		"run":     func(i *task.Intent, text string) { i.Run = text },
		"adapter": func(i *task.Intent, text string) { i.Adapter = text },
		"why":     func(i *task.Intent, text string) { i.Why = text },
		"prompt":  func(i *task.Intent, text string) { i.Prompt = text },
		"tree":    func(i *task.Intent, text string) { i.Tree = text },
	} {
		t.Run(name, func(t *testing.T) {
			i := critic("r1")
			edit(&i, long)
			refuse(t, s, spawning(i), errs.NameTooLong)
			edit(&i, long[1:])
			do(t, s, spawning(i))
		})
	}
	s = do(t, s, spawning(critic("r1")))
	for name, edit := range map[string]func(*task.Receipt, string){
		"outcome": func(r *task.Receipt, text string) { r.Outcome = outcome.Outcome(text) },
		"class":   func(r *task.Receipt, text string) { r.Class = outcome.Class(text) },
		"report":  func(r *task.Receipt, text string) { r.Report = text },
		"path":    func(r *task.Receipt, text string) { r.Path = text },
		"output":  func(r *task.Receipt, text string) { r.Output = text },
		"trail":   func(r *task.Receipt, text string) { r.Trail = text },
	} {
		t.Run(name, func(t *testing.T) {
			c := ended("r1")
			edit(&c.Receipt, long)
			refuse(t, s, c, errs.NameTooLong)
			edit(&c.Receipt, long[1:])
			do(t, s, c)
		})
	}
}

func TestWhatAnAgentSaysNeverStopsItsReceipt(t *testing.T) {
	spawn := task.Spawn{PID: 7, Session: "s\xff" + strings.Repeat("x", 2000)}
	c := ended("r1")
	c.Reason, c.Model, c.Spawn = outcome.Reason(strings.Repeat("é", 1000)), "m\xff", &spawn
	s := do(t, task.State{}, spawning(critic("r1")), c)
	asJSON(t, s)
	got := s.Runs[0].Receipt
	if string(got.Reason) != strings.Repeat("é", 512) || got.Model != "m\uFFFD" || len(got.Spawn.Session) != 1024 || !strings.HasPrefix(got.Spawn.Session, "s\uFFFDx") {
		t.Errorf("%+v", got)
	}
	if len(spawn.Session) < 2000 {
		t.Error("the caller's own was changed")
	}
}
