package task_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// enter asks for the next round with its phase's evidence.
func enter(s task.State, e task.RoundEntry) (task.Round, errs.Code) {
	r, err := task.EnterRound(s, e)
	return r, errs.CodeOf(err)
}

// inRound2 returns a task whose first review sent it back to the executor.
func inRound2(t *testing.T) task.State {
	return decide(t, do(t, task.State{}, begin, ran(task.AgentExecutor), ran(task.AgentCritic)), toExecutor)
}

func TestStart(t *testing.T) {
	open := do(t, task.State{}, begin)
	t.Run("the work begins", func(t *testing.T) {
		if open.Round != 1 || open.Phase != task.Start || open.MaxRounds != 3 || open.CustomCap || open.Query != "build it" {
			t.Errorf("%+v", open)
		}
	})
	t.Run("begun work does not begin again", func(t *testing.T) {
		refuse(t, open, begin, errs.TaskStarted)
		refuse(t, inRound2(t), begin, errs.TaskStarted)
		refuse(t, standing(t)[task.Waiting], begin, errs.TaskStarted)
	})
	t.Run("a forced start begins in the next round", func(t *testing.T) {
		for _, s := range []task.State{open, inRound2(t), standing(t)[task.Waiting]} {
			anew := do(t, s, task.StartWork{Fallback: 3, Force: force})
			if anew.Round != s.Round+1 || anew.MaxRounds != s.Round+3 || anew.DraftAgent() != task.AgentExecutor || anew.Questions != nil {
				t.Errorf("from round %d: %+v", s.Round, anew)
			}
			if anew.Overrides != 1 || *anew.Forced != (task.Override{Round: s.Round + 1, Phase: task.Start, Force: *force}) {
				t.Errorf("override %d: %+v", anew.Overrides, anew.Forced)
			}
		}
	})
	t.Run("a finished or stuck task begins again", func(t *testing.T) {
		for _, status := range []task.Status{task.Committed, task.Stuck} {
			anew := do(t, standing(t)[status], begin)
			if anew.Status != task.Open || anew.Round != 2 || anew.MaxRounds != 4 || anew.DraftAgent() != task.AgentExecutor || anew.Overrides != 0 || anew.Stop != nil {
				t.Errorf("after %s: %+v", status, anew)
			}
		}
	})
	t.Run("a force that is not needed is not recorded", func(t *testing.T) {
		if s := do(t, task.State{}, task.StartWork{Fallback: 3, Force: force}); s.Overrides != 0 || s.Round != 1 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("the tests and the findings' past end with the work", func(t *testing.T) {
		s := do(t, open, ran(task.AgentTester), task.CompletePhase{Phase: task.Tests, Required: 1, Tests: []string{"a_test.go"}})
		s = do(t, decide(t, s, final(toCommit)), begin)
		if len(s.Tests) != 0 || s.ResetReview != 1 {
			t.Errorf("tests %v, forgotten %d", s.Tests, s.ResetReview)
		}
	})
}

func TestPhasesWantTheirAgents(t *testing.T) {
	open := do(t, task.State{}, begin)
	for _, c := range []struct {
		id    string
		phase task.Phase
		agent string
	}{
		{"design", task.Design, task.AgentDesigner},
		{"tests", task.Tests, task.AgentTester},
		{"research", task.Research, task.AgentResearcher},
	} {
		t.Run(c.id, func(t *testing.T) {
			err := refuse(t, open, task.CompletePhase{Phase: c.phase, Required: 1}, errs.EvidenceMissing)
			if err.Details["phase"] != string(c.phase) || err.Details["agent"] != c.agent || err.Details["round"] != 1 ||
				err.Details["required"] != 1 || err.Details["found"] != 0 {
				t.Errorf("details %v", err.Details)
			}
			s := do(t, open, ran(c.agent), task.CompletePhase{Phase: c.phase, Required: 1})
			if s.Round != 1 || s.Phase != c.phase || s.Overrides != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("a forced phase", func(t *testing.T) {
		s := do(t, open, task.CompletePhase{Phase: task.Design, Required: 1, Force: force})
		if s.Overrides != 1 || *s.Forced != (task.Override{Round: 1, Phase: task.Design, Force: *force}) {
			t.Errorf("%d, %+v", s.Overrides, s.Forced)
		}
	})
	t.Run("test files add up", func(t *testing.T) {
		s := do(t, open, ran(task.AgentTester),
			task.CompletePhase{Phase: task.Tests, Required: 1, Tests: []string{"a_test.go", "b_test.go"}},
			task.CompletePhase{Phase: task.Tests, Required: 1, Tests: []string{"b_test.go", "c_test.go"}})
		if !slices.Equal(s.Tests, []string{"a_test.go", "b_test.go", "c_test.go"}) {
			t.Errorf("tests %v", s.Tests)
		}
	})
	t.Run("too few researchers", func(t *testing.T) {
		s := do(t, open, ran(task.AgentResearcher))
		err := refuse(t, s, task.CompletePhase{Phase: task.Research, Required: 3}, errs.EvidenceMissing)
		if err.Details["required"] != 3 || err.Details["found"] != 1 {
			t.Errorf("details %v", err.Details)
		}
	})
	t.Run("researchers that did not search count", func(t *testing.T) {
		// Each broke the search-before-write rule, which is one finding; their
		// attestations still count.
		s := do(t, open, audited(task.AgentResearcher), audited(task.AgentResearcher), audited(task.AgentResearcher),
			task.CompletePhase{Phase: task.Research, Required: 3})
		if len(s.Violations) != 1 {
			t.Errorf("violations %v", s.Violations)
		}
	})
	t.Run("forced research", func(t *testing.T) {
		e, err := task.Decide(open, task.CompletePhase{Phase: task.Research, Required: 3, Force: force})
		if p := e.(task.PhaseDone); err != nil || p.Required != 3 || p.Found != 0 || p.Force != force {
			t.Errorf("%+v, %v", p, err)
		}
	})
	t.Run("no other phase prepares a draft", func(t *testing.T) {
		for _, p := range []task.Phase{"", task.Start, task.Draft, task.Review, task.Commit, "tea"} {
			if e, err := task.Decide(open, task.CompletePhase{Phase: p}); err == nil {
				t.Errorf("%q: %+v", p, e)
			}
		}
	})
}

func TestDraft(t *testing.T) {
	open := do(t, task.State{}, begin)
	t.Run("a green draft", func(t *testing.T) {
		s := do(t, open, ran(task.AgentExecutor), task.RecordVerification{})
		if verify, v := s.VerificationOutcome("absent"); s.Round != 1 || s.Phase != task.Draft || verify != "green" || v == nil {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a red draft", func(t *testing.T) {
		s := decide(t, do(t, open, ran(task.AgentExecutor)), onRed)
		if s.Status != task.Open || s.Round != 2 || s.DraftAgent() != task.AgentFixer || !s.Verifies || s.Reviews != 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("no attestation", func(t *testing.T) {
		err := refuse(t, open, task.RecordVerification{}, errs.EvidenceMissing)
		if err.Details["agent"] != task.AgentExecutor || err.Details["round"] != 1 || !strings.Contains(err.Message, task.AgentExecutor) {
			t.Errorf("%v, %v", err, err.Details)
		}
	})
	t.Run("the wrong agent", func(t *testing.T) {
		refuse(t, do(t, open, ran(task.AgentFixer), ran(task.AgentCritic)), task.RecordVerification{}, errs.EvidenceMissing)
	})
	t.Run("later rounds need the build-fixer", func(t *testing.T) {
		s := do(t, inRound2(t), ran(task.AgentExecutor))
		refuse(t, s, task.RecordVerification{}, errs.EvidenceMissing)
		do(t, s, ran(task.AgentFixer), task.RecordVerification{})
	})
	t.Run("a forced draft", func(t *testing.T) {
		if s := do(t, open, task.RecordVerification{Force: force}); s.Overrides != 1 || s.Forced.Phase != task.Draft {
			t.Errorf("%+v", s)
		}
	})
	t.Run("red beats a green one of the same round", func(t *testing.T) {
		s := do(t, open, ran(task.AgentExecutor), task.RecordVerification{})
		if verify, _ := s.VerificationOutcome("red"); verify != "red" {
			t.Errorf("verification is %s", verify)
		}
	})
	t.Run("red never ends a task that the policy stops", func(t *testing.T) {
		if s := decide(t, open, verified(toStuck, "red")); s.Status != task.Stuck || s.Round != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestReview(t *testing.T) {
	open := do(t, task.State{}, begin)
	review := task.RoundEntry{Fallback: 3, Phases: []task.Phase{task.Review}}
	t.Run("a review needs its critic", func(t *testing.T) {
		if _, code := enter(open, review); code != errs.EvidenceMissing {
			t.Errorf("entered with %q", code)
		}
		if r, code := enter(do(t, open, ran(task.AgentCritic)), review); code != "" || r.Number != 1 || r.MaxRounds != 3 || r.Force != nil {
			t.Errorf("%+v, %q", r, code)
		}
	})
	t.Run("a forced review", func(t *testing.T) {
		forced := review
		forced.Force = force
		r, code := enter(open, forced)
		if code != "" || r.Force != force {
			t.Fatalf("%+v, %q", r, code)
		}
		o := toExecutor
		o.Round = r
		if s := do(t, open, o); s.Overrides != 1 || *s.Forced != (task.Override{Round: 1, Phase: task.Review, Force: *force}) {
			t.Errorf("%d, %+v", s.Overrides, s.Forced)
		}
		if r, _ := enter(do(t, open, ran(task.AgentCritic)), forced); r.Force != nil {
			t.Errorf("force is recorded where the critic has run: %+v", r)
		}
	})
	t.Run("an attestation of an earlier round", func(t *testing.T) {
		if _, code := enter(inRound2(t), review); code != errs.EvidenceMissing {
			t.Errorf("entered with %q", code)
		}
	})
	for _, c := range []struct {
		id      string
		outcome task.DecideRound
		next    int
		status  task.Status
	}{
		{"commit", toCommit, 1, task.Open},
		{"commit in one step", final(toCommit), 1, task.Committed},
		{"executor", toExecutor, 2, task.Open},
		{"a question", asking(true, task.Question{Fingerprint: "q1"}), 2, task.Waiting},
		{"plan-checker", toPlanChecker, 1, task.Open},
		{"plan-checker on red", verified(toPlanChecker, "red"), 2, task.Open},
		{"stuck", toStuck, 1, task.Stuck},
		{"another end", task.DecideRound{RoundDecided: task.RoundDecided{NextAction: "abandon", DestinationKind: "terminal", Reviewed: true, Verify: "absent", FindingCount: 1}}, 1, task.Stuck},
	} {
		t.Run(c.id, func(t *testing.T) {
			s := decide(t, open, c.outcome)
			if s.Round != c.next || s.Status != c.status || s.Last.NextRound != c.next || s.Last.NextAction != c.outcome.NextAction {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("the task's own cap", func(t *testing.T) {
		r, code := enter(do(t, task.State{}, task.StartWork{MaxRounds: 8, Fallback: 3}), task.RoundEntry{Fallback: 3})
		if code != "" || r.MaxRounds != 8 || !r.CustomCap {
			t.Errorf("%+v, %q", r, code)
		}
	})
	t.Run("a caller of another round", func(t *testing.T) {
		s := inRound2(t)
		for expected, want := range map[int]errs.Code{0: "", 2: "", 1: errs.RoundShifted, 3: errs.RoundShifted, -1: errs.RoundShifted} {
			if _, code := enter(s, task.RoundEntry{Fallback: 3, Expected: expected}); code != want {
				t.Errorf("round %d: %q", expected, code)
			}
		}
		late := toward(t, do(t, task.State{}, begin), toExecutor)
		err := refuse(t, s, late, errs.RoundShifted)
		if err.Details["expected"] != 1 || err.Details["actual"] != 2 {
			t.Errorf("details %v", err.Details)
		}
	})
	t.Run("evidence is used up by a decision that keeps the round", func(t *testing.T) {
		s := do(t, open, ran(task.AgentExecutor), task.RecordSearch{Query: "q"}, task.RecordVerification{}, ran(task.AgentCritic))
		o := toPlanChecker
		o.Evidence = []string{"sha256:a"}
		s = decide(t, s, o)
		if s.CountAttestations(task.AgentExecutor)+s.CountAttestations(task.AgentCritic)+len(s.Searches) != 0 || s.Verified != nil || s.Round != 1 {
			t.Errorf("%+v", s)
		}
		if _, code := enter(s, review); code != errs.EvidenceMissing {
			t.Errorf("the critic's stamp counts twice: %q", code)
		}
		refuse(t, s, toward(t, s, final(toCommit)), errs.CommitUnverified)
	})
}

func TestCommit(t *testing.T) {
	ready := decide(t, do(t, task.State{}, begin, ran(task.AgentExecutor), task.RecordVerification{}, ran(task.AgentCritic)), toCommit)
	missing := func(t *testing.T, s task.State, must bool, want ...string) {
		t.Helper()
		err := refuse(t, s, task.CommitTask{MustVerify: must}, errs.CommitPreconditionMissing)
		if got, _ := err.Details["missing"].([]string); !slices.Equal(got, want) {
			t.Errorf("missing %v, want %v", got, want)
		}
	}
	t.Run("no verification", func(t *testing.T) {
		missing(t, decide(t, do(t, task.State{}, begin), toCommit), true, task.MissingVerification)
	})
	t.Run("no review", func(t *testing.T) {
		missing(t, do(t, task.State{}, begin, ran(task.AgentExecutor), task.RecordVerification{}), false, task.MissingReview)
		missing(t, task.State{}, true, task.MissingVerification, task.MissingReview)
		missing(t, decide(t, do(t, task.State{}, begin), toPlanChecker), false, task.MissingZeroFindings)
	})
	t.Run("both halves", func(t *testing.T) {
		s := do(t, ready, task.CommitTask{MustVerify: true})
		if s.Status != task.Committed || s.Phase != task.Commit || s.Round != 1 || s.Overrides != 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("a forced commit", func(t *testing.T) {
		e, err := task.Decide(task.State{}, task.CommitTask{MustVerify: true, Force: force})
		if err != nil || !slices.Equal(e.(task.WorkCommitted).Missing, []string{task.MissingVerification, task.MissingReview}) {
			t.Fatalf("%+v, %v", e, err)
		}
		s := do(t, task.State{}, task.CommitTask{MustVerify: true, Force: force})
		if s.Status != task.Committed || s.Overrides != 1 || *s.Forced != (task.Override{Round: 1, Phase: task.Commit, Force: *force}) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("the task's own cap ends", func(t *testing.T) {
		raised := do(t, task.State{}, task.StartWork{MaxRounds: 8, Fallback: 3})
		for _, s := range []task.State{decide(t, raised, final(toCommit)), do(t, decide(t, raised, toCommit), task.CommitTask{})} {
			if s.CustomCap {
				t.Error("the cap outlives the commit")
			}
			if anew := do(t, s, begin); anew.MaxRounds != 4 || anew.CustomCap {
				t.Errorf("begun anew with a cap of %d", anew.MaxRounds)
			}
		}
	})
	t.Run("a draft after the review makes it worthless", func(t *testing.T) {
		missing(t, do(t, ready, task.RecordVerification{}), true, task.MissingReview)
		missing(t, do(t, ready, ran(task.AgentDesigner), task.CompletePhase{Phase: task.Design, Required: 1}), true, task.MissingReview)
	})
	t.Run("a later review counts", func(t *testing.T) {
		missing(t, decide(t, ready, toPlanChecker), false, task.MissingVerification, task.MissingZeroFindings)
	})
	t.Run("what was verified once is verified always", func(t *testing.T) {
		red := decide(t, do(t, task.State{}, begin), onRed)
		for _, s := range []task.State{
			red, decide(t, do(t, task.State{}, begin), verified(toExecutor, "green")),
			do(t, decide(t, do(t, task.State{}, begin), verified(final(toCommit), "green")), begin),
			do(t, task.State{}, task.ImportTask{TaskImported: task.TaskImported{Round: 2, MaxRounds: 3}}),
		} {
			refuse(t, s, toward(t, s, final(toCommit)), errs.CommitUnverified)
			missing(t, decide(t, s, toCommit), false, task.MissingVerification)
			if s := decide(t, s, final(verified(toCommit, "green"))); s.Status != task.Committed {
				t.Errorf("%+v", s)
			}
		}
	})
	t.Run("a project without verification commits without it", func(t *testing.T) {
		s := do(t, decide(t, do(t, task.State{}, begin), toCommit), task.CommitTask{})
		if s.Status != task.Committed || s.Verifies {
			t.Errorf("%+v", s)
		}
		mustVerify := final(toCommit)
		mustVerify.MustVerify = true
		refuse(t, task.State{}, toward(t, task.State{}, mustVerify), errs.CommitUnverified)
	})
	t.Run("a decision to commit that its own input contradicts", func(t *testing.T) {
		unreviewed, withFindings := toCommit, toCommit
		unreviewed.Reviewed, withFindings.FindingCount = false, 1
		s := do(t, task.State{}, begin, ran(task.AgentExecutor), task.RecordVerification{})
		for _, o := range []task.DecideRound{unreviewed, withFindings, verified(toCommit, "red")} {
			refuse(t, s, toward(t, s, o), errs.CommitPreconditionMissing)
			refuse(t, s, toward(t, s, final(o)), errs.CommitPreconditionMissing)
		}
	})
}
