package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// barPolicy returns a policy with these branches before the routes of findings, and with a
// bar.
func barPolicy(branches, bar string) string {
	return `# METADATA
# title: A bar
# custom:
#   version: 3.1.4
#   adr: ADR-0100
package switchyard.routing

destinations := {
	"askuser": {"kind": "human", "advances_round": true},
	"commit": {"kind": "terminal", "advances_round": false},
	"executor": {"kind": "agent", "advances_round": true},
	"plan-checker": {"kind": "agent", "advances_round": false},
	"researcher": {"kind": "agent", "advances_round": true},
	"stuck": {"kind": "terminal", "advances_round": false},
}

route_table := {"critic-error": "stuck", "information-missing": "researcher", "missing-test": "executor", "question-to-user": "askuser", "rule-9-violation": "executor", "stuck-detected": "stuck", "style": "executor"}

precedence := ["stuck", "askuser", "researcher", "executor"]

# METADATA
# entrypoint: true
` + bar + `

# METADATA
# entrypoint: true
decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	input.routes.stuck > 0
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	input.finding_count > 0
	input.round >= input.max_rounds
	not input.may_extend
` + branches + `} else := {"next_action": first, "reason": "routed"} if {
	first := [d | some d in precedence; input.routes[d] > 0][0]
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
	input.verify in {"green", "absent"}
}
`
}

// barAll defers nothing.
const barAll = `bar := "all"`

// asksAboutChurn asks the user after two reviews whose failures the fixes caused.
const asksAboutChurn = `} else := {"next_action": "askuser", "reason": "churn"} if {
	input.induced_rounds >= 2
`

// barSite creates a project with such a policy.
func barSite(t testing.TB, branches, bar string, agents roles) *runSite {
	t.Helper()
	s := newRunSite(t, once+"policy: rules/\nmax_rounds: 5\n", agents)
	s.ownPolicy(t, func(string) string { return barPolicy(branches, bar) })
	return s
}

// churning is a script whose reviews find only what the fixes cause, until the last one.
func churning() roles {
	return roles{
		"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()},
		"critic": {at(1), at(2), at(3), fakeagent.Clean()},
	}
}

// TestChurnIsAsked answers the question about churn in a run, from elsewhere, and in a
// fleet.
func TestChurnIsAsked(t *testing.T) {
	sequential(t)
	t.Parallel()
	const land = "land with the residual risk"
	ended := func(t *testing.T, s *runSite) {
		t.Helper()
		if bar := s.state(t).Bar; bar != "fail" {
			t.Errorf("the bar is %q", bar)
		}
		x, err := s.engine(t).Explain(t.Context(), "T", 3)
		if err != nil {
			t.Fatal(err)
		}
		if d := x.Decision; d.Reason != task.ReasonChurn || len(d.Questions) != 1 || len(x.Answers) != 1 || x.Answers[0].Text != land || x.Answers[0].Choice != 2 {
			t.Errorf("%s asked %+v, and got %+v", d.Reason, d.Questions, x.Answers)
		}
		if text := s.prompts(t, "build-fixer", 4); !strings.Contains(text, land) || !strings.Contains(text, "induced by the last fix") {
			t.Errorf("the build-fixer reads\n%s", text)
		}
	}
	t.Run("in the run", func(t *testing.T) {
		t.Parallel()
		s := barSite(t, asksAboutChurn, barAll, churning())
		asked := 0
		s.ends(t, api.RunRequest{Ask: func(_ context.Context, q task.Question) *api.AnswerRequest {
			if len(q.Choices) != 3 || q.Choices[1] != land {
				t.Errorf("the choices are %q", q.Choices)
			}
			if asked++; asked == 1 {
				return &api.AnswerRequest{Text: "go on for 0 rounds"} // It is refused.
			}
			return &api.AnswerRequest{Choice: 2}
		}}, "commit", "no-findings")
		if n := len(s.events.of(api.RunAsked)); n != 2 {
			t.Errorf("it is asked %d times", n)
		}
		s.committed(t, 4)
		ended(t, s)
	})
	t.Run("later", func(t *testing.T) {
		t.Parallel()
		s := barSite(t, asksAboutChurn, barAll, churning())
		r := s.ends(t, api.RunRequest{}, "askuser", task.ReasonChurn)
		if len(r.Questions) != 1 || r.Questions[0].Fingerprint != "churn-3" {
			t.Errorf("it asks %+v", r.Questions)
		}
		s.answer(t, api.AnswerRequest{Choice: 2})
		s.ends(t, api.RunRequest{}, "commit", "no-findings")
		s.committed(t, 4)
		ended(t, s)
	})
	t.Run("in a fleet", func(t *testing.T) {
		t.Parallel()
		s := newFleet(t, barSite(t, asksAboutChurn, barAll, churning()))
		if p := s.run(t, api.RunRequest{}, api.AnswerRequest{Choice: 2}); p.NextAction != "commit" {
			t.Fatalf("it ends with %s: %v", p.NextAction, p.Error)
		}
		ended(t, s.runSite)
	})
}

// TestChurnIsAskedBesidesFindings checks that findings for a person are asked too, and that
// the reason alone, from a policy that knows no induced reviews, asks an ordinary question.
func TestChurnIsAskedBesidesFindings(t *testing.T) {
	sequential(t)
	t.Parallel()
	agents := churning()
	question := wrong()
	question.Category, question.File, question.Line, question.Remediation = "question-to-user", "draft.txt", 3, "Which port?"
	agents["critic"][2] = fakeagent.Finds(question)
	s := barSite(t, asksAboutChurn, barAll, agents)
	r := s.ends(t, api.RunRequest{}, "askuser", task.ReasonChurn)
	if len(r.Questions) != 2 || !r.Questions[0].Churn || r.Questions[1].Text != "Which port?" || r.Questions[1].Churn {
		t.Errorf("it asks %+v", r.Questions)
	}

	s = barSite(t, "} else := {\"next_action\": \"askuser\", \"reason\": \"churn\"} if {\n\tinput.finding_count > 0\n", barAll, churning())
	r = s.ends(t, api.RunRequest{}, "askuser", task.ReasonChurn)
	if len(r.Questions) != 1 || r.Questions[0].Churn || r.Questions[0].Fingerprint != "round-1" {
		t.Errorf("it asks %+v", r.Questions)
	}
}

// TestResearchersReadTheChurn checks the prompts of researchers that a policy asks because
// of churn.
func TestResearchersReadTheChurn(t *testing.T) {
	t.Parallel()
	agents := churning()
	agents["researcher"] = []fakeagent.Scenario{fakeagent.Presets()["researcher"]}
	missing := wrong()
	missing.Category, missing.File, missing.Line, missing.Remediation = "information-missing", "draft.txt", 3, "Which port?"
	agents["critic"][2] = fakeagent.Finds(missing)
	s := barSite(t, strings.Replace(asksAboutChurn, "askuser", "researcher", 1), barAll, agents)
	s.ends(t, api.RunRequest{}, "commit", "no-findings")
	text := s.prompts(t, "researcher", 4)
	for _, part := range []string{
		`- "fail information-missing draft.txt:3: Which port? (induced by the last fix)"`,
		`- "to be fixed before round 2: missing-test draft.txt:1, now unverified"` + "\n" + `- "caused by that, in round 2: fail missing-test draft.txt:2: Test line 2"`,
		`- "to be fixed before round 3: missing-test draft.txt:2, now unverified"` + "\n" + `- "caused by that, in round 3: fail information-missing draft.txt:3: Which port?"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("researchers do not read %s in\n%s", part, text)
		}
	}
}

// TestLandingLeavesTheRisks checks that the next agent does not fix what the user has
// deferred with the answer.
func TestLandingLeavesTheRisks(t *testing.T) {
	sequential(t)
	t.Parallel()
	agents := churning()
	failure, risk, asks := wrong(), wrong(), wrong()
	failure.File, failure.Line = "draft.txt", 3
	risk.Severity, risk.File, risk.Line, risk.Remediation = "risk", "draft.txt", 3, "Name it well"
	asks.Category, asks.Severity, asks.File, asks.Line, asks.Remediation = "question-to-user", "nit", "draft.txt", 3, "Which port?"
	agents["critic"][2] = fakeagent.Finds(failure, risk, asks)
	for choice, want := range map[int]string{1: "- findings: 3\n", 2: "- findings: 2\n- deferred: 1, below the bar fail\n"} {
		s := barSite(t, asksAboutChurn, barAll, agents)
		s.ends(t, api.RunRequest{Ask: func(_ context.Context, q task.Question) *api.AnswerRequest {
			if !q.Churn {
				return &api.AnswerRequest{Text: "80"}
			}
			return &api.AnswerRequest{Choice: choice}
		}}, "commit", "no-findings")
		text := s.prompts(t, "build-fixer", 4)
		if !strings.Contains(text, want) || strings.Contains(text, `- to do: "Name it well"`) != (choice == 1) || !strings.Contains(text, `- to do: "Which port?"`) {
			t.Errorf("after choice %d the build-fixer reads\n%s", choice, text)
		}
	}
}
