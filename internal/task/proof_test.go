package task_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestNothingIsCommittedWithoutProof reads the events of random tasks without forced
// gates and checks the evidence for each commit. It uses only the events, neither the
// state nor the model.
func TestNothingIsCommittedWithoutProof(t *testing.T) {
	seen := make(map[string]int)
	walks := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			walks++
			w := walk{T: t, seen: seen}
			w.must = w.oneIn(2, "must verify")
			if w.oneIn(8, "committed first") {
				w.commitFirst()
			}
			for range steps {
				before, known := w.state.Status, len(w.events)
				w.step()
				if len(w.events) > known {
					if lack := undecided(w.events); lack != "" {
						t.Fatalf("a commit %s:\n%s", lack, asJSON(t, w.events))
					}
				}
				if before == task.Committed || before == task.Merging || w.state.Status != task.Committed {
					continue
				}
				if lack := unproven(w.events, w.must); lack != "" {
					t.Fatalf("committed %s:\n%s", lack, asJSON(t, w.events))
				}
			}
			if w.state.Overrides != 0 {
				t.Fatalf("%d overrides of a task that nobody forced", w.state.Overrides)
			}
		}
	})
	for _, what := range []string{"committed by a decision", "committed by its phase", "resumed: rounds", "resumed: replan", "resumed: manual", "resumed: reset", "all answered", "commit-created"} {
		if !t.Failed() && seen[what] < walks/150 { // The rarest happens in one walk of 18.
			t.Errorf("%s: reached %d times in %d walks", what, seen[what], walks)
		}
	}
}

// undecided returns the objection to a commit in git that is the latest event, or "": its
// tree must be the one of the decision to commit, and nothing may have followed but what
// commits the task, or ends the runs and the merges of other rounds.
func undecided(events []task.Event) string {
	made, ok := events[len(events)-1].(task.CommitCreated)
	if !ok {
		return ""
	}
	for _, e := range slices.Backward(events[:len(events)-1]) {
		switch e := e.(type) {
		case task.RoundDecided:
			if e.NextAction != "commit" || e.Round != made.Round || e.Tree == "" || e.Tree != made.Commit.Tree {
				return "of another tree than the decided one"
			}
			return ""
		case task.CommitCreated, task.WorkResumed, task.WorkStarted:
			return "without a decision of its own"
		}
	}
	return "without any decision"
}

// unproven returns the objection to the commit that is the latest event, or "".
func unproven(events []task.Event, must bool) string {
	round := 0
	switch last := events[len(events)-1].(type) {
	case task.WorkCommitted:
		round = last.Round
	case task.RoundDecided:
		round = last.Round
	default:
		return "by an event that commits nothing"
	}
	clean, green, critic := false, false, false
	reports := make(map[string]bool) // those that the round has decided on
	for _, e := range events {
		switch e := e.(type) {
		case task.TaskImported:
			must = true
		case task.AgentAttested:
			switch {
			case e.Attestation.Round != round:
			case e.Attestation.Agent == "np-executor" || e.Attestation.Agent == "np-build-fixer":
				clean, green, critic = false, false, false
			case e.Attestation.Agent == "np-critic":
				critic = true
			}
		case task.DraftBegun:
			must = true
			if e.Round == round {
				clean, green, critic = clean && e.Same, false, critic && e.Same
			}
		case task.SpawnBegun:
			if e.Intents[0].Round == round && slices.ContainsFunc(e.Intents, func(i task.Intent) bool { return i.Edits }) {
				clean, green, critic = false, false, false
			}
		case task.DraftVerified:
			must = true
			if e.Round == round {
				clean, green, critic = false, true, false
			}
		case task.RoundDecided:
			must = must || e.Verify != "absent"
			if e.Round == round {
				commits := e.NextAction == "commit"
				replayed := slices.ContainsFunc(e.Evidence, func(digest string) bool { return reports[digest] })
				clean = commits && e.Reviewed && e.FindingCount == 0 && e.Verify != "red" && (critic || !replayed)
				green = commits && (green || e.Verify == "green")
				critic = critic && commits
				for _, digest := range e.Evidence {
					reports[digest] = true
				}
			}
		}
	}
	switch {
	case !clean:
		return "without a clean review of its own after the newest draft"
	case must && !green:
		return "without a green verification"
	default:
		return ""
	}
}

// TestEvidenceOfEarlierRoundsNeverCounts enters the next round in every possible way,
// with all the evidence of the previous round.
func TestEvidenceOfEarlierRoundsNeverCounts(t *testing.T) {
	ready := do(t, task.State{}, begin, ran(task.AgentExecutor), ran(task.AgentResearcher), ran(task.AgentCritic), task.RecordVerification{})
	ready = decide(t, ready, toCommit)
	if missing := ready.MissingForCommit(true); len(missing) != 0 {
		t.Fatalf("the task is not ready: %v", missing)
	}
	stuck := do(t, ready, task.StopTask{Reason: "user-requested"})
	for name, next := range map[string]task.State{
		"executor":     decide(t, ready, toExecutor),
		"askuser":      do(t, decide(t, ready, asking(true, task.Question{Fingerprint: "q1"})), task.AnswerQuestion{Text: "yes"}),
		"red":          decide(t, ready, onRed),
		"more rounds":  do(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: 5}),
		"replan":       do(t, stuck, task.ResumeTask{Mode: task.Replan, Fallback: 3}),
		"manual":       do(t, stuck, task.ResumeTask{Mode: task.Manual, Fallback: 3}),
		"reset":        do(t, stuck, task.ResumeTask{Mode: task.Reset, Fallback: 3}),
		"begun anew":   do(t, stuck, begin),
		"forced anew":  do(t, ready, task.StartWork{Fallback: 3, Force: force}),
		"after commit": do(t, ready, task.CommitTask{MustVerify: true}, begin),
	} {
		t.Run(name, func(t *testing.T) {
			if next.Round != 2 || len(next.Attestations) != 0 || next.Verified != nil {
				t.Errorf("round %d has stamps %v and verification %v", next.Round, next.Attestations, next.Verified)
			}
			if verify, _ := next.VerificationOutcome("absent"); verify != "absent" {
				t.Errorf("verification is %s", verify)
			}
			refuse(t, next, task.CommitTask{}, errs.CommitPreconditionMissing)
			refuse(t, next, toward(t, next, final(toCommit)), errs.CommitUnverified)
			refuse(t, next, task.CompletePhase{Phase: task.Research, Required: 1}, errs.EvidenceMissing)
			if next.DraftAgent() != "" {
				refuse(t, next, task.RecordVerification{}, errs.EvidenceMissing)
			}
			if _, err := task.EnterRound(next, task.RoundEntry{Phases: []task.Phase{task.Review}}); err == nil {
				t.Error("the critic of round 1 reviews round 2")
			}
		})
	}
}
