package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// handsBack configures manual fallback for a critic that cannot run.
const handsBack = "spawn: {retries: 0, fallback_on_error: []}\n"

// TestGreenIsOfItsTree checks that a green verification does not count for a draft that
// was edited since, whichever critic reviews it.
func TestGreenIsOfItsTree(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, c := range []struct {
		name, edit string
		code       errs.Code
	}{
		{"the same draft", "package a\n", ""},
		{"another draft", "package b\n", errs.CommitUnverified},
	} {
		for _, spawned := range []bool{false, true} {
			s := newSite(t, handsBack, fakeagent.Presets()["auth"])
			d, err := s.engine(t, time.Now).Round(t.Context(), "T", host.Request{Verify: host.VerifyRequest{Command: "true"}})
			if err != nil || d.NextAction != api.ActionManualFallback || s.state(t).Verified == nil {
				t.Fatalf("the first round leads to %s, verified: %v, %v", d.NextAction, s.state(t).Verified, err)
			}
			s.write(t, "a.go", c.edit)
			req := request(clean)
			if spawned {
				s.plays(t, fakeagent.Clean())
				req = host.Request{}
			}
			d, err = s.engine(t, time.Now).Round(t.Context(), "T", req)
			if errs.CodeOf(err) != c.code || (err == nil) != (c.code == "") || err == nil && d.NextAction != "commit" {
				t.Errorf("%s, spawned: %v: it leads to %q, %v; want %q", c.name, spawned, d.NextAction, err, c.code)
			}
		}
	}
}

// TestManualFallbackDeletesTheEarlierReport checks that a manual fallback deletes the report of an
// earlier one, so that it cannot count as the review of a changed draft.
func TestManualFallbackDeletesTheEarlierReport(t *testing.T) {
	t.Parallel()
	s := newSite(t, handsBack, fakeagent.Presets()["auth"])
	first, err := s.round(t)
	if err != nil || first.ManualFallback == nil {
		t.Fatalf("the round hands nothing back: %v", err)
	}
	s.write(t, first.ManualFallback.ReportPath, "of the first draft")
	s.write(t, "a.go", "package b\n")
	second, err := s.round(t)
	if err != nil || second.ManualFallback == nil || second.ManualFallback.ReportPath != first.ManualFallback.ReportPath {
		t.Fatalf("the round hands back %+v, %v", second.ManualFallback, err)
	}
	if _, err := os.Stat(s.path(second.ManualFallback.ReportPath)); !os.IsNotExist(err) {
		t.Errorf("the report of the draft before is there still: %v", err)
	}
}

// TestManualFallbacksOfTwoTasksShareNoFile checks that the manual fallbacks of two tasks do not share
// files.
func TestManualFallbacksOfTwoTasksShareNoFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, handsBack, fakeagent.Presets()["auth"])
	for _, id := range []string{"A", "B"} {
		req := host.Request{Verify: host.VerifyRequest{Command: "echo of task " + id}}
		if d, err := s.engine(t, time.Now).Round(t.Context(), id, req); err != nil || d.ManualFallback == nil {
			t.Fatalf("%s hands nothing back: %v", id, err)
		}
	}
	logs, err := filepath.Glob(s.path(".switchyard/handoff/*/verification.log"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("there are %v, %v; want one each", logs, err)
	}
	for i, id := range []string{"A", "B"} {
		if text, err := os.ReadFile(logs[i]); err != nil || string(text) != "of task "+id+"\n" {
			t.Errorf("%s has %q, %v", logs[i], text, err)
		}
	}
}

// TestFailedReviewIsNotForgotten checks that a critic's failure is recorded before its
// round is decided. If the decision fails, the next command makes it without another
// critic, which would judge what this one may have left in the tree.
func TestFailedReviewIsNotForgotten(t *testing.T) {
	sequential(t)
	t.Parallel()
	edits := fakeagent.Clean()
	edits.Steps = append([]fakeagent.Step{{Write: &fakeagent.File{Path: "a.go", Text: "package ours\n"}}}, edits.Steps...)
	for _, config := range []string{unconfined, unconfined + verifies} {
		s := newSite(t, config, edits, edits)
		var between *site
		for _, k := range s.killed(t) {
			if state := k.state(t); state.Last == nil && len(state.Runs) == 2 && state.Runs[1].Receipt != nil {
				between = &k
			}
		}
		if between == nil {
			t.Fatal("no kill came between the receipt and the decision")
		}
		between.plays(t, fakeagent.Clean())
		d, err := between.round(t)
		if err != nil || d.NextAction != "stuck" {
			t.Errorf("with %q the next command leads to %q, %v; want stuck", config, d.NextAction, err)
		}
		if got := len(between.calls(t)); got != 0 {
			t.Errorf("%d other critics ran", got)
		}
	}
}

// TestSpawnsOutsideHaveNoTasksBudget checks that agents outside any task have no task
// budget, since nothing could resume them.
func TestSpawnsOutsideHaveNoTasksBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t, once+"budget: {task: {tokens: 300, rounds: 1}, round: {tokens: 300}, spawn: {tokens: 250}}\n", fakeagent.Presets()["researcher"])
	s.write(t, "q.md", "What holds?\n")
	for i := range 3 {
		req := host.SpawnRequest{Agent: "researcher", PromptPath: "q.md", OutputPath: "a.json"}
		if _, err := s.engine(t, time.Now).Spawn(t.Context(), req); err != nil {
			t.Fatalf("spawn %d: %v", i+1, err)
		}
	}
}

// TestAgentThatCannotBeStarted checks that a program that cannot be started uses no budget
// and falls back like a missing one.
func TestAgentThatCannotBeStarted(t *testing.T) {
	t.Parallel()
	s := newSite(t, handsBack+"budget: {task: {tokens: 1000}, spawn: {tokens: 250}}\n", fakeagent.Clean())
	s.agent = filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(s.agent, []byte("\x00 no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := s.round(t)
	if err != nil || d.NextAction != api.ActionManualFallback || d.ManualFallback == nil || len(d.ManualFallback.Failures) != 1 {
		t.Errorf("it leads to %q, %+v, %v", d.NextAction, d.ManualFallback, err)
	}
	if spent := s.state(t).Spent.Task; spent.Tokens != 0 {
		t.Errorf("what never ran has used up %+v", spent)
	}
	if _, err := os.Stat(s.path(".switchyard/spawns.jsonl")); !os.IsNotExist(err) {
		t.Errorf("the trail has what never was a process: %v", err)
	}
}

// TestBudgetOfResearchThatGoesOn checks that a task gets stuck if its budget does not
// cover researchers that a kill has ended, as it would with the decision. No researcher is
// asked in vain.
func TestBudgetOfResearchThatGoesOn(t *testing.T) {
	t.Parallel()
	asks := fakeagent.Finds(missing())
	// The critic uses 240 tokens and three researchers reserve 750. Killed researchers
	// count with their reservation, so three more exceed the budget.
	s := newSite(t, once+"budget: {task: {tokens: 1200}, spawn: {tokens: 250}}\n", playing(&asks, 3)...)
	var between *site
	for _, k := range s.killed(t) {
		if state := k.state(t); state.Last != nil && len(state.OpenRuns()) == 3 {
			between = &k
			break
		}
	}
	if between == nil {
		t.Fatal("no kill came between the decision and the research")
	}
	between.plays(t, playing(nil, 3)...)
	d, err := between.round(t)
	if err != nil || d.NextAction != "stuck" || d.Reason != task.ReasonBudget || d.Budget == "" {
		t.Errorf("it leads to %s (%s), %q, %v", d.NextAction, d.Reason, d.Budget, err)
	}
	if state := between.state(t); state.Status != task.Stuck || state.Stop.Reason != task.ReasonBudget || len(state.OpenRuns()) != 0 {
		t.Errorf("the task is %s, %+v, open: %v", state.Status, state.Stop, state.OpenRuns())
	}
	if got := len(between.calls(t)); got != 0 {
		t.Errorf("%d researchers ran", got)
	}
}

// TestSilentResearcherIsNotHandedBack checks that a failed researcher is silent: no manual
// fallback is offered or recorded for it.
func TestSilentResearcherIsNotHandedBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, handsBack+"research: {agents: 1}\n", fakeagent.Finds(missing()), fakeagent.Presets()["refused"])
	if d, err := s.round(t); err != nil || d.NextAction != "researcher" || d.Research == nil || len(d.Research.Silent) != 1 {
		t.Fatalf("the round leads to %s, %+v, %v", d.NextAction, d.Research, err)
	}
	for _, r := range s.state(t).Runs {
		if r.Role == task.RoleResearcher && r.Receipt.Next != "" {
			t.Errorf("what follows the researcher is said to be %q", r.Receipt.Next)
		}
	}
}

// TestSpawnWritesNothingOfOurs checks that an agent's output cannot replace Switchyard's
// own files.
func TestSpawnWritesNothingOfOurs(t *testing.T) {
	t.Parallel()
	s := newSite(t, once, fakeagent.Presets()["researcher"])
	s.write(t, "q.md", "What holds?\n")
	ask := func(output string) error {
		_, err := s.engine(t, time.Now).Spawn(t.Context(), host.SpawnRequest{Agent: "researcher", PromptPath: "q.md", OutputPath: output})
		return err
	}
	if err := ask("a.json"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(project.StateDir, s.path("detour")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, output := range []string{".switchyard/ledger.db", ".switchyard/run/x", "detour/spawns.jsonl"} {
		if err := ask(output); errs.CodeOf(err) != errs.SpawnOutputUnsafe {
			t.Errorf("%s: got %v", output, err)
		}
	}
	s.sound(t, "T")
}

// TestAgentsDecideNothing checks that an agent run by Switchyard cannot answer questions
// or attest drafts.
func TestAgentsDecideNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, once, fakeagent.Clean())
	e := host.New(host.Options{
		Project: project.Project{Root: s.root, Dir: s.root}, Now: time.Now, By: "agent", Environ: []string{"SWITCHYARD_HEADLESS=1"},
		Warn: func(err error) { t.Error(err) },
	})
	defer e.Close(t.Context())
	for what, do := range map[string]func() error{
		"an answer": func() error { _, err := e.Answer(t.Context(), "T", host.AnswerRequest{Text: "yes"}); return err },
		"a draft":   func() error { _, err := e.Draft(t.Context(), "T", api.DraftRequest{}); return err },
		"a round":   func() error { _, err := e.Round(t.Context(), "T", request(clean)); return err },
		"a review":  func() error { _, err := e.Review(t.Context(), "T", request(clean)); return err },
		"a commit":  func() error { _, err := e.Commit(t.Context(), "T", api.CommitRequest{}); return err },
		"a resume":  func() error { _, err := e.Resume(t.Context(), "T", host.ResumeRequest{}); return err },
	} {
		if err := do(); errs.CodeOf(err) != errs.SpawnReentrant {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// TestDoctorRunsNothingOfForeign checks that doctor does not run programs named by another
// user's file.
func TestDoctorRunsNothingOfForeign(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	s := newSite(t, "spawn: {adapters: [own.json]}\n", fakeagent.Clean())
	s.write(t, "own.json", `{"name": "own", "bin": "sh", "prompt": "stdin", "argv": [], "output": "text", "tested": ["1"], "version": ["-c", "echo 1.2 >`+ran+`"]}`)
	for _, owner := range []int{os.Geteuid(), os.Geteuid() + 1000} {
		if err := os.Chown(s.path(project.ConfigFile), owner, -1); err != nil {
			t.Skip("files cannot be given away here:", err)
		}
		health, err := s.engine(t, time.Now).Diagnose(t.Context(), true, false)
		if err != nil {
			t.Fatal(err)
		}
		known := slices.ContainsFunc(health.Adapters, func(a api.AdapterHealth) bool { return a.Name == "own" })
		_, err = os.Stat(ran)
		if ours := owner == os.Geteuid(); known != ours || (err == nil) != ours {
			t.Errorf("of user %d: listed: %v, run: %v; %+v", owner, known, err == nil, health.Checks)
		}
		_ = os.Remove(ran)
	}
}
