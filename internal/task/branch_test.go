package task_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

var (
	conflicts = task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.MergeConflict}}
	breaks    = task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.MergeRed}}
	merges    = task.EndMerge{MergeEnded: task.MergeEnded{Outcome: task.Merged, Commit: "c2"}}
)

// recorded returns a task whose decided tree is committed.
func recorded(t tester) task.State {
	return do(t, decide(t, inBranch(t), ofTree(final(toCommit), "t1")), task.RecordCommit{GitCommit: theCommit})
}

func TestABranchIsCreatedOnce(t *testing.T) {
	s := inBranch(t)
	nothing(t, s, task.CreateBranch{})
	refuse(t, do(t, task.State{}, begin), task.CreateBranch{}, errs.TaskNoBranch)
	again := do(t, s, task.StopTask{Reason: "enough"}, beginBranch)
	if again.Branch.Created {
		t.Error("another branch exists already")
	}
	do(t, again, task.CreateBranch{})
	if same := do(t, s, task.StopTask{Reason: "enough"}, task.StartWork{Fallback: 3}); !same.Branch.Created {
		t.Error("a new start without a branch forgets it")
	}
}

func TestOnlyTheDecidedTreeIsCommitted(t *testing.T) {
	decided := decide(t, inBranch(t), ofTree(final(toCommit), "t1"))
	for name, c := range map[string]struct {
		state task.State
		tree  string
	}{
		"another tree":          {decided, "t2"},
		"an unknown tree":       {decided, ""},
		"no decided tree":       {decide(t, inBranch(t), final(toCommit)), ""},
		"no decision":           {do(t, inBranch(t), task.CommitTask{Force: force}), "t1"},
		"no decision to commit": {do(t, decide(t, inBranch(t), ofTree(toPlanChecker, "t1")), task.CommitTask{Force: force}), "t1"},
		"an earlier decision":   {do(t, decide(t, decide(t, inBranch(t), ofTree(toCommit, "t1")), ofTree(toExecutor, "t1")), task.CommitTask{Force: force}), "t1"},
		"a second commit":       {do(t, decided, task.RecordCommit{GitCommit: task.GitCommit{SHA: "c0", Tree: "t1"}}), "t1"},
	} {
		commit := task.GitCommit{SHA: "c1", Tree: c.tree, Decision: "d1"}
		if e, err := task.Decide(c.state, task.RecordCommit{GitCommit: commit}); err == nil || e != nil || errs.CodeOf(err) != "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if _, err := task.Apply(c.state, task.CommitCreated{Round: c.state.Round, Commit: commit}); err == nil {
			t.Errorf("%s is applied", name)
		}
	}
	s := do(t, decided, task.RecordCommit{GitCommit: theCommit})
	nothing(t, s, task.RecordCommit{GitCommit: theCommit})
	if s.Branch.Head() != "c1" || decided.Branch.Head() != "c0" || s.Status != task.Committed {
		t.Errorf("the branch is at %s, the task %s", s.Branch.Head(), s.Status)
	}
	if _, err := task.Apply(decided, task.CommitCreated{Round: 2, Commit: theCommit}); err == nil {
		t.Error("a commit of another round is applied")
	}
}

// TestADraftEndsItsReview checks that a run that edits ends the evidence about the draft
// before it, once it begins and whatever becomes of it.
func TestADraftEndsItsReview(t *testing.T) {
	reviewed := do(t, inBranch(t), ran(task.AgentExecutor), task.RecordVerification{}, spawning(critic("c")), ended("c"), ran(task.AgentCritic))
	s := do(t, reviewed, spawning(agent("e", "security", true)))
	if s.Verified != nil || s.CountAttestations(task.AgentCritic) != 0 || s.LatestRun(task.RoleCritic, 0) != nil || s.Phase != task.Start {
		t.Errorf("after another draft: %+v", s)
	}
	if _, err := task.EnterRound(s, task.RoundEntry{Fallback: 3, Phases: []task.Phase{task.Review}}); errs.CodeOf(err) != errs.EvidenceMissing {
		t.Errorf("the review still counts: %v", err)
	}
	decided := decide(t, reviewed, ofTree(verified(toCommit, "green"), "t1"))
	if missing := decided.MissingForCommit(true); len(missing) != 0 {
		t.Fatalf("%v is missing", missing)
	}
	refuse(t, do(t, decided, spawning(agent("e", "security", true)), lost("e")), task.CommitTask{}, errs.CommitPreconditionMissing)
	if s := do(t, reviewed, spawning(agent("s", "security", false))); s.Verified == nil || s.CountAttestations(task.AgentCritic) != 1 {
		t.Error("a run that only reads ends a review")
	}
}

func TestARevisedPlan(t *testing.T) {
	begun := do(t, decide(t, inBranch(t), toPlanChecker), spawning(agent("p", task.RolePlanChecker, false)))
	answer := task.RecordReceipt{Receipt: task.Receipt{Run: "p", Outcome: "ok", Path: "p.json", Report: "sha256:p"}}
	s := do(t, begun, answer)
	if s.Plan == nil || *s.Plan != (task.RevisedPlan{Path: "p.json", Digest: "sha256:p"}) {
		t.Errorf("plan %+v", s.Plan)
	}
	if next := decide(t, s, toExecutor); next.Plan == nil {
		t.Error("the next round forgets the plan")
	}
	if anew := do(t, s, task.StopTask{Reason: "enough"}, task.ResumeTask{Mode: task.Replan, Fallback: 3}); anew.Plan != nil {
		t.Error("another plan is made, and the old one stays")
	}
	if late := do(t, begun, task.StopTask{Reason: "enough"}, task.ResumeTask{Mode: task.Replan, Fallback: 3}, answer); late.Plan != nil {
		t.Errorf("a plan of an earlier round counts: %+v", late.Plan)
	}
	if none := do(t, begun, ended("p")); none.Plan != nil {
		t.Errorf("a plan-checker without a plan leaves %+v", none.Plan)
	}
}

func TestMerge(t *testing.T) {
	refuse(t, decide(t, inBranch(t), ofTree(final(toCommit), "t1")), task.BeginMerge{Into: "main"}, errs.TaskNoBranch)
	begun := do(t, recorded(t), task.BeginMerge{Into: "main"})
	refuse(t, begun, task.BeginMerge{Into: "main"}, errs.TaskMerging)
	done := do(t, begun, merges)
	if done.Status != task.Committed || *done.Merge != (task.Merge{Into: "main", Outcome: task.Merged, Commit: "c2"}) || *done.Commit != theCommit {
		t.Errorf("%s, %+v", done.Status, done.Merge)
	}
	for _, fails := range []task.EndMerge{conflicts, breaks} {
		stuck := do(t, begun, fails)
		if stuck.Status != task.Stuck || stuck.Stop.Reason != string(fails.Outcome) || stuck.Stop.By != task.BySwitchyard || !stuck.MergeFailed() {
			t.Errorf("%s, %+v", stuck.Status, stuck.Stop)
		}
		again := do(t, stuck, task.BeginMerge{Into: "main"})
		if again.Status != task.Merging || again.Stop != nil || do(t, again, merges).Status != task.Committed {
			t.Errorf("%s, %+v", again.Status, again.Stop)
		}
		// Another round makes another commit, on top of this one.
		next := do(t, stuck, task.ResumeTask{Mode: task.MoreRounds, Rounds: 1})
		if next.Commit != nil || next.Merge != nil || next.Branch.Head() != "c1" || next.Round != 2 {
			t.Errorf("round %d has %+v, %+v, %+v", next.Round, next.Commit, next.Merge, next.Branch)
		}
		next = decide(t, next, ofTree(final(toCommit), "t2"))
		next = do(t, next, task.RecordCommit{GitCommit: task.GitCommit{SHA: "c3", Tree: "t2", Decision: "d2"}})
		if next.Branch.Head() != "c3" || task.Next(next).Kind != task.StepDone {
			t.Errorf("%+v", next.Branch)
		}
		// A person's stop ends the possibility to merge.
		refuse(t, do(t, stuck, task.StopTask{Reason: "enough"}), task.BeginMerge{Into: "main"}, errs.TaskStuck)
	}
	if _, err := task.Apply(begun, task.MergeEnded{Outcome: "perhaps"}); err == nil {
		t.Error("a merge ends as perhaps")
	}
}

// TestATaskThatMustBeVerified: neither its commit nor a merge of it does without.
func TestATaskThatMustBeVerified(t *testing.T) {
	start := beginBranch
	start.MustVerify = true
	s := do(t, task.State{}, start, task.CreateBranch{})
	refuse(t, s, toward(t, s, ofTree(final(toCommit), "t1")), errs.CommitUnverified)
	s = do(t, decide(t, s, ofTree(final(verified(toCommit, "green")), "t1")), task.RecordCommit{GitCommit: theCommit}, task.BeginMerge{Into: "main"})
	refuse(t, s, merges, errs.CommitUnverified)
	ended := merges
	ended.Verified = true
	if s = do(t, s, ended); s.Status != task.Committed || !s.Merge.Verified {
		t.Errorf("%s, %+v", s.Status, s.Merge)
	}
}

func TestAStopEndsAMerge(t *testing.T) {
	begun := do(t, recorded(t), task.BeginMerge{Into: "main"})
	s := do(t, begun, task.StopTask{Reason: "user-requested", By: "ann"})
	if s.Status != task.Stuck || s.Merge != nil || s.Commit == nil || s.MergeFailed() {
		t.Errorf("%s, %+v, %+v", s.Status, s.Merge, s.Commit)
	}
	refuse(t, s, merges, errs.TaskStuck)
	refuse(t, s, task.BeginMerge{Into: "main"}, errs.TaskStuck)
	refuse(t, begun, task.StartWork{Fallback: 3, Force: force}, errs.TaskMerging)
	if next := do(t, s, task.ResumeTask{Mode: task.MoreRounds, Rounds: 1}); next.Commit != nil {
		t.Errorf("the next round has %+v", next.Commit)
	}
}
