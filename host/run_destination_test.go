package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// securitySite creates a project whose policy sends findings of style to the agent
// security.
func securitySite(t *testing.T, advances bool, agents roles) *runSite {
	t.Helper()
	s := newRunSite(t, once+"policy: rules/\n", agents)
	s.ownPolicy(t, func(rego string) string {
		advance := map[bool]string{true: "true", false: "false"}[advances]
		return strings.NewReplacer(
			`"stuck": {"kind": "terminal"`, `"security": {"kind": "agent", "advances_round": `+advance+`},`+"\n\t"+`"stuck": {"kind": "terminal"`,
			`"style": "executor"`, `"style": "security"`,
			`precedence := ["stuck",`, `precedence := ["stuck", "security",`,
		).Replace(rego)
	})
	return s
}

// TestRunRunsTheAgentOfADestination checks that a destination of the policy runs the agent
// of its name, in the profile of its definition.
func TestRunRunsTheAgentOfADestination(t *testing.T) {
	t.Parallel()
	advice, secret := "Hash the password first.", strings.Join([]string{"ghp", "0123456789abcdefghij"}, "_")
	t.Run("readonly", func(t *testing.T) {
		t.Parallel()
		s := securitySite(t, true, roles{
			"executor": {fakeagent.Edits()}, "critic": {found("style"), fakeagent.Clean()}, "security": {says(advice + " " + secret)}, "build-fixer": {fakeagent.Edits()},
		})
		s.define(t, "security", "")
		s.ends(t, api.RunRequest{}, "commit", "")
		s.committed(t, 2)
		s.wasCalled(t, "executor 1", "critic 1", "security 2", "build-fixer 2", "critic 2")
		if text := s.prompts(t, "security", 2); !strings.Contains(text, wrong().Remediation) || !strings.Contains(text, runPrompt) {
			t.Errorf("security does not see the finding and the task:\n%s", text)
		}
		if text := s.prompts(t, "build-fixer", 2); !strings.Contains(text, advice+" [REDACTED:github-token]") {
			t.Errorf("the next executor does not see the advice without the secret:\n%s", text)
		}
	})
	t.Run("readonly, the round stays", func(t *testing.T) {
		t.Parallel()
		s := securitySite(t, false, nil)
		s.plays(t, fakeagent.Edits(), found("style"), says(advice), fakeagent.Edits(), fakeagent.Clean())
		s.define(t, "security", "")
		s.ends(t, api.RunRequest{}, "commit", "")
		s.wasCalled(t, "executor 1", "critic 1", "security 1", "executor 1", "critic 1")
		if n := strings.Count(s.prompts(t, "executor", 1), advice); n != 1 {
			t.Errorf("%d prompts of the executor have the advice, want the second", n)
		}
	})
	t.Run("edit", func(t *testing.T) {
		t.Parallel()
		s := securitySite(t, true, roles{"executor": {fakeagent.Edits()}, "critic": {found("style"), fakeagent.Clean()}, "security": {fakeagent.Edits()}})
		s.write(t, "switchyard.yaml", once+"policy: rules/\nevidence: stamps\n") // Its run is the draft's evidence.
		s.define(t, "security", "profile: edit\n")
		r := s.ends(t, api.RunRequest{}, "commit", "")
		s.committed(t, 2)
		s.wasCalled(t, "executor 1", "critic 1", "security 2", "critic 2")
		if got := s.git(t, "show", r.Commit+":draft.txt"); got != "# round 1\n# round 2" {
			t.Errorf("the commit has %q", got)
		}
	})
	t.Run("edit, and misbehaves", func(t *testing.T) {
		t.Parallel()
		s := securitySite(t, true, roles{"executor": {fakeagent.Edits()}, "critic": {found("style"), fakeagent.Clean()}, "security": {fakeagent.Presets()["executor-hook"]}})
		s.write(t, "switchyard.yaml", unconfined+"policy: rules/\n")
		s.define(t, "security", "profile: edit\n")
		s.ends(t, api.RunRequest{}, "stuck", "security-git-changed")
	})
	t.Run("without a definition", func(t *testing.T) {
		t.Parallel()
		agents := roles{"executor": {fakeagent.Edits()}, "critic": {found("style"), fakeagent.Clean()}, "security": {says(advice)}, "build-fixer": {fakeagent.Edits()}}
		s := securitySite(t, true, agents)
		failed := s.fails(t, api.RunRequest{}, errs.AgentNotFound)
		if !strings.Contains(failed.Hint, ".switchyard/agents/security.md") {
			t.Errorf("the hint is %q", failed.Hint)
		}
		if state := s.state(t); state.Status != task.Open || state.Round != 2 {
			t.Errorf("the task is %s in round %d", state.Status, state.Round)
		}
		s.define(t, "security", "")
		s.ends(t, api.RunRequest{}, "commit", "")
		s.wasCalled(t, "executor 1", "critic 1", "security 2", "build-fixer 2", "critic 2")
	})
	t.Run("without a profile for it", func(t *testing.T) {
		t.Parallel()
		s := securitySite(t, true, roles{"executor": {fakeagent.Edits()}, "critic": {found("style")}})
		s.define(t, "security", "module: true\n")
		s.fails(t, api.RunRequest{}, errs.AgentIsModule)
		if err := os.Remove(s.path(".claude/agents/security.md")); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRunOfAnExecutorThatMayNotEdit: its definition must have the profile.
func TestRunOfAnExecutorThatMayNotEdit(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.define(t, "executor", "profile: readonly\n")
	s.fails(t, api.RunRequest{}, errs.AgentMayNotEdit)
	s.define(t, "executor", "profile: edit\n")
	s.ends(t, api.RunRequest{}, "commit", "")
}

// TestRunRevisesThePlan checks that the plan-checker's plan reaches the next agents, and
// that its question waits for the user.
func TestRunRevisesThePlan(t *testing.T) {
	t.Parallel()
	plan := "Return an error for the empty list."
	t.Run("a plan", func(t *testing.T) {
		t.Parallel()
		s := newRunSite(t, once, nil)
		s.plays(t, fakeagent.Edits(), found("infrastructure-mismatch"), says(`{"plan": "`+plan+`"}`), fakeagent.Edits(), reads(`the task's plan`, plan, fakeagent.Clean()))
		s.ends(t, api.RunRequest{}, "commit", "")
		s.wasCalled(t, "executor 1", "critic 1", "plan-checker 1", "executor 1", "critic 1")
		if !strings.Contains(s.prompts(t, "executor", 1), plan) {
			t.Error("the executor does not see the plan")
		}
	})
	t.Run("a question", func(t *testing.T) {
		t.Parallel()
		s := newRunSite(t, once, nil)
		s.plays(t, fakeagent.Edits(), found("infrastructure-mismatch"), says(`{"question": "Which list?", "choices": ["both", "one"], "default": "one"}`),
			says(`{"plan": "`+plan+`"}`), fakeagent.Edits(), fakeagent.Clean())
		r := s.ends(t, api.RunRequest{}, "askuser", "")
		if q := r.Questions[0]; q.Text != "Which list?" || q.Default != "one" || len(q.Choices) != 2 {
			t.Errorf("it asks %+v", q)
		}
		s.wasCalled(t, "executor 1", "critic 1", "plan-checker 1")
		s.answer(t, host.AnswerRequest{Text: "the second one"})
		s.ends(t, api.RunRequest{}, "commit", "")
		s.wasCalled(t, "executor 1", "critic 1", "plan-checker 1", "plan-checker 1", "executor 1", "critic 1")
		if text := s.prompts(t, "plan-checker", 1); !strings.Contains(text, "the second one") {
			t.Errorf("the plan-checker does not see the answer:\n%s", text)
		}
	})
	t.Run("neither", func(t *testing.T) {
		t.Parallel()
		s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {found("infrastructure-mismatch")}, "plan-checker": {says("I do not know.")}})
		s.fails(t, api.RunRequest{}, errs.SpawnFailed)
		if state := s.state(t); state.Status != task.Open {
			t.Errorf("the task is %s", state.Status)
		}
	})
}

// TestRunResearches checks that researchers' answers reach the next agent.
func TestRunResearches(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, roles{
		"executor": {fakeagent.Edits()}, "critic": {fakeagent.Finds(missing()), fakeagent.Clean()}, "build-fixer": {reads("research.md", "Use the standard library", fakeagent.Edits())}, "researcher": {fakeagent.Presets()["researcher"]},
	})
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	s.wasCalled(t, "executor 1", "critic 1", "researcher 2", "researcher 2", "researcher 2", "build-fixer 2", "critic 2")
}

// TestRunKeepsResearch checks that researchers' answers reach the next draft also if the agent
// that first got them changed nothing, and the task was resumed.
func TestRunKeepsResearch(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, roles{
		"executor": {fakeagent.Edits()}, "critic": {fakeagent.Finds(missing()), fakeagent.Clean()}, "researcher": {fakeagent.Presets()["researcher"]},
		"build-fixer": {{}, fakeagent.Presets()["executor-idle"], reads("research.md", "Use the standard library", fakeagent.Edits())},
	})
	s.ends(t, api.RunRequest{}, "stuck", "build-fixer-no-change")
	s.resume(t)
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 3)
}

// TestRunMergesResearchAfterAKill checks that the answers of researchers reach the next
// agent if the first run ends before it merges them, also if a researcher failed.
func TestRunMergesResearchAfterAKill(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once+"research: {agents: 2}\n", nil)
	s.plays(t, fakeagent.Edits(), fakeagent.Finds(missing()), fakeagent.Presets()["researcher"], fakeagent.Scenario{})
	inTheWay := s.path(".switchyard/handoff/T-r2-research.md/x")
	if err := os.MkdirAll(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	s.fails(t, api.RunRequest{}, errs.StateFileUnwritable)
	if decided := s.events.of(api.RunDecided); len(decided) != 1 || decided[0].Decision.NextAction != "researcher" {
		t.Errorf("the run shows the decisions %+v", decided)
	}
	if err := os.RemoveAll(filepath.Dir(inTheWay)); err != nil {
		t.Fatal(err)
	}
	s.play(t, roles{
		"critic": {fakeagent.Clean()}, "build-fixer": {reads("research.md", "Use the standard library", fakeagent.Edits())}, "researcher": {fakeagent.Scenario{}},
	})
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	s.wasCalled(t, "researcher 2", "build-fixer 2", "critic 2")
}

// reads is a scenario that fails unless the file that the prompt names in a line with this
// text, from the agent's working directory, has the content.
func reads(line, content string, play fakeagent.Scenario) fakeagent.Scenario {
	prompt := `"$(dirname "$SWITCHYARD_FAKE_SCENARIO")"/*.calls`
	check := fmt.Sprintf(`prompt=$(ls -t %s/*/stdin | head -1)
file=$(grep -F -- %q "$prompt" | head -1 | sed 's/.*"\([^"]*\)".*/\1/')
grep -qF -- %q "$file"`, prompt, line, content)
	play.Steps = slices.Insert(slices.Clone(play.Steps), 1, runs("sh", "-c", check))
	return play
}

// TestRunAsksTheUser checks a critic's question, with a user and without one.
func TestRunAsksTheUser(t *testing.T) {
	sequential(t)
	t.Parallel()
	agents := roles{"executor": {fakeagent.Edits()}, "critic": {found("question-to-user"), fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()}}
	for _, present := range []bool{true, false} {
		s := newRunSite(t, once, agents)
		if present {
			s.ends(t, api.RunRequest{Ask: func(context.Context, task.Question) *api.AnswerRequest {
				return &api.AnswerRequest{Text: "Yes, please."}
			}}, "commit", "")
			if n := len(s.events.of(api.RunAnswered)); n != 1 {
				t.Errorf("%d events answered", n)
			}
		} else {
			r := s.ends(t, api.RunRequest{Ask: func(context.Context, task.Question) *api.AnswerRequest { return nil }}, "askuser", "")
			if len(r.Questions) != 1 || r.Questions[0].Text != wrong().Remediation {
				t.Errorf("it asks %+v", r.Questions)
			}
			s.ends(t, api.RunRequest{}, "askuser", "")
			s.wasCalled(t, "executor 1", "critic 1")
			s.answer(t, host.AnswerRequest{Text: "Yes, please."})
			s.ends(t, api.RunRequest{}, "commit", "")
		}
		s.committed(t, 2)
		s.wasCalled(t, "executor 1", "critic 1", "build-fixer 2", "critic 2")
		if text := s.prompts(t, "build-fixer", 2); !strings.Contains(text, "Yes, please.") {
			t.Errorf("the build-fixer does not see the answer:\n%s", text)
		}
	}
}

// TestRunGoesOnWithoutItsAnswer checks that a run goes on if its question is answered while it
// asks: by the default once the question expires, or by another command.
func TestRunGoesOnWithoutItsAnswer(t *testing.T) {
	sequential(t)
	t.Parallel()
	question := fakeagent.Object{Set: map[string]any{"verdict": "issues_found", "findings": []any{map[string]any{
		"category": "question-to-user", "severity": "fail", "remediation": "Ask",
		"question_to_user": map[string]string{"question": "Which port?", "default": "443", "expires_in": "2h"},
	}}}}
	asks := fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Report: &fakeagent.Report{Object: question}},
		fakeagent.Step{Final: &fakeagent.Final{Object: fakeagent.Object{Set: map[string]any{"verdict": "issues_found", "blockers_count": 1}}}})
	agents := roles{"executor": {fakeagent.Edits()}, "critic": {asks, fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()}}
	for name, c := range map[string]struct {
		during func(*runSite, *clock) *api.AnswerRequest
		answer string
	}{
		"expired": {func(_ *runSite, c *clock) *api.AnswerRequest {
			c.forward(2 * time.Hour)
			return nil
		}, "443"},
		"expired, then answered": {func(_ *runSite, c *clock) *api.AnswerRequest {
			c.forward(2 * time.Hour)
			return &api.AnswerRequest{Text: "8080"}
		}, "443"},
		"answered elsewhere": {func(s *runSite, _ *clock) *api.AnswerRequest {
			s.answer(t, host.AnswerRequest{Text: "80"})
			return &api.AnswerRequest{Text: "8080"}
		}, "80"},
		"answered elsewhere, and not here": {func(s *runSite, _ *clock) *api.AnswerRequest {
			s.answer(t, host.AnswerRequest{Text: "80"})
			return nil
		}, "80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := parkSite(t, once, agents)
			s.ends(t, api.RunRequest{Ask: func(context.Context, task.Question) *api.AnswerRequest { return c.during(s, clock) }}, "commit", "")
			if text := s.prompts(t, "build-fixer", 2); !strings.Contains(text, "Which port?") || !strings.Contains(text, c.answer) || strings.Contains(text, "8080") {
				t.Errorf("the build-fixer reads\n%s", text)
			}
			if n := len(s.events.of(api.RunAsked)); n != 1 {
				t.Errorf("it asks %d times", n)
			}
		})
	}
}

// TestRunGoesOnIfAnsweredAtItsEnd checks a question that another command answers as soon as the
// run has shown it, while the run ends because of it.
func TestRunGoesOnIfAnsweredAtItsEnd(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, roles{"executor": {fakeagent.Edits()}, "critic": {found("question-to-user"), fakeagent.Clean()}, "build-fixer": {fakeagent.Edits()}})
	r, err := s.engine(t).Run(t.Context(), "T", api.RunRequest{Prompt: runPrompt, Observe: func(ev api.RunEvent) {
		if ev.Event == api.RunAsked {
			s.answer(t, host.AnswerRequest{Text: "Yes, please."})
		}
	}})
	if err != nil || r.NextAction != "commit" {
		t.Fatalf("the run ends with %s, %v", r.NextAction, err)
	}
	s.committed(t, 2)
}

// TestRunEndsWhateverAgentsSay repeats findings forever. A cap ends each loop.
func TestRunEndsWhateverAgentsSay(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, category := range []string{"style", "missing-test", "infrastructure-mismatch", "information-missing"} {
		for _, advances := range []bool{true, false} {
			if !advances && category != "style" {
				continue // Only the destination of style differs.
			}
			t.Run(category+map[bool]string{true: "", false: ", the round stays"}[advances], func(t *testing.T) {
				t.Parallel()
				s := securitySite(t, advances, roles{
					"executor": {fakeagent.Edits()}, "critic": {found(category)}, "build-fixer": {fakeagent.Edits()},
					"security": {says("Do it.")}, "plan-checker": {says(`{"plan": "Do it."}`)}, "researcher": {fakeagent.Presets()["researcher"]},
				})
				rego, err := os.ReadFile(s.path("rules/routing.rego"))
				if err != nil {
					t.Fatal(err)
				}
				// Without this rule, only the host's own caps are left where rounds stay.
				s.write(t, "rules/routing.rego", strings.Replace(string(rego), "input.stalled_rounds >= 2", "input.stalled_rounds >= 2000", 1))
				s.define(t, "security", "")
				r := s.ends(t, api.RunRequest{}, "stuck", "")
				t.Logf("it ends with %s in round %d after %d calls", r.Reason, r.Round, len(s.calls(t)))
			})
		}
	}
}
