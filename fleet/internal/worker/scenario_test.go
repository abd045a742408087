package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/task"
)

const prompt = "Handle the empty list."

// scenario is a project's settings and the actions of its agents.
type scenario struct {
	config string
	agents roles
	// later replaces agents once a usage limit is over.
	later roles
}

// finds is a critic that finds something of a category.
func finds(category string) fakeagent.Scenario {
	return fakeagent.Finds(fakeagent.Finding{Category: category, Severity: "fail", File: "a.go", Line: 1, Remediation: "Look at " + category})
}

// drawScenario draws a scenario.
func drawScenario(t *rapid.T) scenario {
	presets := fakeagent.Presets()
	red, green := &fakeagent.File{Path: "red", Text: "{round}"}, &fakeagent.File{Path: "a.go", Text: "package a // {round}\n"}
	edits := map[string]fakeagent.Scenario{
		"edits": fakeagent.Edits(), "red": fakeagent.Edits(fakeagent.Step{Write: red}), "green": fakeagent.Executes(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"rm", "-f", "red"}}}, fakeagent.Step{Write: green}),
		"nested": fakeagent.Edits(fakeagent.Step{Run: &fakeagent.Run{Argv: []string{"git", "init", "-q", "nested"}}}),
	}
	for _, name := range []string{
		"executor-idle", "executor-crash", "executor-commits", "executor-stages", "executor-branches", "executor-hook", "executor-settings", "executor-gone",
		"overloaded", "usage-limit", "auth", "empty",
	} {
		edits[name] = presets[name]
	}
	reviews := map[string]fakeagent.Scenario{"two": fakeagent.Finds(
		fakeagent.Finding{Category: "style", Severity: "nit", Remediation: "x"}, fakeagent.Finding{Category: "information-missing", Severity: "risk", Remediation: "y"})}
	for _, name := range []string{"clean", "cannot-write", "no-report", "empty", "crash", "overloaded", "usage-limit", "refused"} {
		reviews[name] = presets[name]
	}
	for _, category := range []string{"missing-test", "question-to-user", "information-missing", "infrastructure-mismatch", "stuck-detected"} {
		reviews[category] = finds(category)
	}
	text := "The plan is now another"
	plans := map[string]fakeagent.Scenario{"says": fakeagent.Executes(), "final": fakeagent.Plays(fakeagent.Step{Read: &fakeagent.Read{}}, fakeagent.Step{Final: &fakeagent.Final{Text: &text}}), "crash": presets["crash"], "usage-limit": presets["usage-limit"]}
	facts := map[string]fakeagent.Scenario{"facts": presets["researcher"], "mute": presets["researcher-mute"], "usage-limit": presets["usage-limit"]}

	// The scenario that a run without faults needs comes first: rapid shrinks to it.
	draw := func(label, first string, of map[string]fakeagent.Scenario) (name []string) {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(of)), func(name string) bool { return name == first })
		names = append(slices.Repeat([]string{first}, len(names)/2), names...)
		return rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, label)
	}
	s, confine := scenario{agents: roles{}, later: roles{}}, "best"
	for _, role := range []struct {
		name, first string
		of          map[string]fakeagent.Scenario
	}{
		{"executor", "edits", edits}, {"build-fixer", "edits", edits}, {"critic", "clean", reviews}, {"plan-checker", "says", plans}, {"researcher", "facts", facts},
	} {
		for _, name := range draw(role.name, role.first, role.of) {
			s.agents[role.name] = append(s.agents[role.name], role.of[name])
			if name == "usage-limit" {
				name = role.first
			}
			s.later[role.name] = append(s.later[role.name], role.of[name])
			if strings.HasPrefix(name, "executor-") {
				confine = "off" // Confined, it could not do what it tries, and would only name the directory in its error.
			}
		}
	}
	s.config = fmt.Sprintf("spawn: {retries: %d, confine: %s}\nmax_rounds: %d\nresearch: {agents: 1}\n",
		rapid.IntRange(0, 1).Draw(t, "retries"), confine, rapid.IntRange(1, 3).Draw(t, "max_rounds"))
	s.config += rapid.SampledFrom([]string{"", "verify: \"true\"\n", "verify: \"test ! -e red\"\n", "verify: \"echo no; exit 1\"\n"}).Draw(t, "verify")
	s.config += rapid.SampledFrom([]string{
		"", "", "", "budget: {task: {tokens: 600}, spawn: {tokens: 300}}\n", "budget: {round: {dollars: 0.011}, spawn: {dollars: 0.01}}\n", "budget: {task: {rounds: 1}}\n",
	}).Draw(t, "budget")
	return s
}

// answerOf returns the n-th answer of a task: it raises budgets twice.
func answerOf(n int, choices []string) (choice int, text string) {
	switch {
	case len(choices) == 0:
		return 0, "Take the first one"
	case n < 2:
		return 1, ""
	}
	return len(choices), ""
}

// runLocally drives task T by Run.
func (s *site) runLocally(t testing.TB, later roles) api.RunResult {
	t.Helper()
	answered := 0
	for {
		r, err := s.engine(t).Run(t.Context(), "T", api.RunRequest{Prompt: prompt, Ask: func(_ context.Context, q task.Question) *api.AnswerRequest {
			a := &api.AnswerRequest{}
			a.Choice, a.Text = answerOf(answered, q.Choices)
			answered++
			return a
		}})
		if r.NextAction != api.ActionParked {
			if err != nil {
				t.Logf("run ends with %v", err)
			}
			return r
		}
		s.play(t, later)
		s.ahead.Add(int64(2 * time.Hour))
	}
}

// runFleet drives task T by the workflow.
func (s *site) runFleet(t testing.TB, later roles) flow.Position {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(5 * time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // The machine may be busy.
	s.register(t, env)
	answered := 0
	env.SetOnActivityCompletedListener(func(info *activity.Info, result converter.EncodedValue, err error) {
		var p flow.Position
		if info.ActivityType.Name != flow.Advance || err != nil || result.Get(&p) != nil {
			return
		}
		switch p.Step.Kind {
		case task.StepAsk:
			a := flow.Answer{Question: p.Question.Fingerprint}
			a.Choice, a.Text = answerOf(answered, p.Question.Choices)
			answered++
			env.SignalWorkflow(flow.SignalAnswer, a)
		case task.StepPark:
			s.play(t, later)
			s.ahead.Add(int64(2 * time.Hour))
		}
	})
	env.ExecuteWorkflow(flow.Workflow, s.request(t, api.RunRequest{Prompt: prompt}))
	var p flow.Position
	if err := env.GetWorkflowResult(&p); err != nil {
		t.Fatal(err)
	}
	return p
}

// The differences between two runs with the same events: measured numbers, and texts that are
// numbered in the order in which they appear.
var (
	measured = regexp.MustCompile(`^(at|by|until|pid|.*_at|.*_ms|ms|.*_us|us|.*_bytes|millis|started|ended|begun|time|nonce|before)$`)
	named    = regexp.MustCompile(`\brun-[a-z0-9]+|sha256:[0-9a-f]{64}|\b[0-9a-f]{40}\b|\b(?:[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{64})\b|\bproject-[0-9a-f]{12}\b|\b\d{8}T\d{6}[0-9A-Za-z.-]*|\d{4}-\d\d-\d\dT[0-9:.]+Z`)
)

// events returns task T's events without the differences between two runs.
func (s *site) events(t testing.TB) (all []string) {
	t.Helper()
	names := make(map[string]string)
	for ev, err := range s.engine(t).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Task != "T" {
			continue
		}
		var body any
		if err := json.Unmarshal(ev.Body, &body); err != nil {
			t.Fatal(err)
		}
		text, err := json.MarshalIndent(without(body), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		text = named.ReplaceAllFunc(text, func(name []byte) []byte {
			if names[string(name)] == "" {
				names[string(name)] = fmt.Sprintf("#%d", len(names))
			}
			return []byte(names[string(name)])
		})
		all = append(all, ev.Kind+" "+strings.ReplaceAll(string(text), s.dir, "DIR"))
	}
	return all
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			if v[key] = without(v[key]); measured.MatchString(key) {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

// TestScenarios tests that a fleet gives the same decisions and events as Run, whatever
// agents do.
func TestScenarios(t *testing.T) {
	for n := range exhaustive.Count(3, 40) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			sc := rapid.Custom(drawScenario).Example(n)
			t.Log(sc.config)
			local, fleet := newSite(t, sc.config, sc.agents), newSite(t, sc.config, sc.agents)
			want, got := local.runLocally(t, sc.later), fleet.runFleet(t, sc.later)
			if got.NextAction != want.NextAction || got.Reason != want.Reason || got.Round != want.Round || got.Status != want.Status {
				t.Errorf("the fleet ends with %s (%s), %s in round %d, want %s (%s), %s in round %d; %+v", got.NextAction, got.Reason, got.Status, got.Round,
					want.NextAction, want.Reason, want.Status, want.Round, got.Failure)
			}
			wantEvents(t, fleet.events(t), local.events(t))
		})
	}
}

func wantEvents(t testing.TB, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		one, other := "nothing", "nothing"
		if i < len(got) {
			one = got[i]
		}
		if i < len(want) {
			other = want[i]
		}
		if one != other {
			t.Fatalf("event %d is\n%s\nwant\n%s", i+1, one, other)
		}
	}
}
