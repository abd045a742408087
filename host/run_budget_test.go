package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// answer answers task T's only question.
func (s *runSite) answer(t testing.TB, a host.AnswerRequest) {
	t.Helper()
	if _, err := s.engine(t).Answer(t.Context(), "T", a); err != nil {
		t.Fatal(err)
	}
}

// TestRunAsksWhetherToRaiseABudget exhausts each budget before each step that agents need.
func TestRunAsksWhetherToRaiseABudget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget, unit string
		called       []string
	}{
		"time":             {"{task: {time: 1m}}", "task-time", []string{}},
		"time of a round":  {"{round: {time: 1m}}", "round-time", []string{}},
		"tokens":           {"{task: {tokens: 400}, spawn: {tokens: 300}}", "task-tokens", []string{"executor 1"}},
		"tokens, fixer":    {"{task: {tokens: 600}, spawn: {tokens: 300}}", "task-tokens", []string{"executor 1", "critic 1"}},
		"dollars":          {"{task: {dollars: 0.011}, spawn: {dollars: 0.01}}", "task-dollars", []string{"executor 1"}},
		"dollars, a round": {"{round: {dollars: 0.011}, spawn: {dollars: 0.01}}", "round-dollars", []string{"executor 1"}},
		"rounds":           {"{task: {rounds: 1}}", "task-rounds", []string{"executor 1", "critic 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRunSite(t, once+"budget: "+c.budget+"\n", twoRounds())
			r := s.ends(t, api.RunRequest{}, "askuser", "")
			s.wasCalled(t, c.called...)
			q := r.Questions[0]
			if len(r.Questions) != 1 || q.Budget == "" || q.Budget != c.unit || r.Status != task.Waiting || len(q.Choices) != 2 {
				t.Fatalf("it asks %+v", r.Questions)
			}
			round := r.Round
			if again := s.ends(t, api.RunRequest{}, "askuser", ""); again.Questions[0].Fingerprint != q.Fingerprint {
				t.Errorf("another run asks %+v", again.Questions)
			}
			s.answer(t, host.AnswerRequest{Choice: 1})
			if state := s.state(t); state.Status != task.Open || state.Round != round {
				t.Errorf("after the answer it is %s in round %d, was %d", state.Status, state.Round, round)
			}
			// Each question raises it again.
			asked := 0
			s.ends(t, api.RunRequest{Ask: func(_ context.Context, q task.Question) *api.AnswerRequest {
				if asked++; asked > 9 {
					t.Fatalf("it asks for the %dth time: %+v", asked, q)
				}
				return &api.AnswerRequest{Text: q.Choices[0]}
			}}, "commit", "")
			s.committed(t, 2)
			s.wasCalled(t, "executor 1", "critic 1", "build-fixer 2", "critic 2")
		})
	}
}

// TestRunStopsOnABudget: the answer stop leaves the task stuck, and another makes it go on.
func TestRunStopsOnABudget(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, twoRounds())
	small := &project.Budget{}
	small.Task.Time = time.Minute
	s.ends(t, api.RunRequest{Budget: small}, "askuser", "")
	s.wasCalled(t)
	if _, err := s.engine(t).Answer(t.Context(), "T", host.AnswerRequest{Text: "a bit"}); errs.CodeOf(err) != errs.AnswerInvalid {
		t.Errorf("an answer without an amount gives %v", err)
	}
	asked := 0
	answers := []string{"a bit", "stop"}
	r := s.ends(t, api.RunRequest{Budget: small, Ask: func(context.Context, task.Question) *api.AnswerRequest {
		asked++
		return &api.AnswerRequest{Text: answers[min(asked, 2)-1]}
	}}, "stuck", task.ReasonBudget)
	if asked != 2 {
		t.Errorf("it asked %d times, want again after an answer that is none", asked)
	}
	if notices := s.events.of(api.RunNotice); !slices.ContainsFunc(notices, func(ev api.RunEvent) bool { return strings.Contains(ev.Message, "a bit") }) {
		t.Errorf("the notices are %+v", notices)
	}
	if r.Status != task.Stuck {
		t.Errorf("the task is %s", r.Status)
	}
	s.resume(t)
	// Without the request's budget there is no limit.
	s.ends(t, api.RunRequest{}, "commit", "")
}
