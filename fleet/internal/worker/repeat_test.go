package worker_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestRepeatedActivities repeats every activity, orders on another worker, also as the orders
// of a new workflow, whose predecessor ended before the home accepted the result: no agent
// runs again, and nothing is recorded twice.
func TestRepeatedActivities(t *testing.T) {
	agents := roles{"executor": {fakeagent.Edits()}, "build-fixer": {fakeagent.Edits()}, "critic": {finds("missing-test"), fakeagent.Clean()}}
	const config = "spawn: {retries: 0}\nverify: \"true\"\n"
	local := newSite(t, config, agents)
	local.runLocally(t, nil)
	for name, newWorkflow := range map[string]bool{"one workflow": false, "a new workflow": true} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, config, agents)
			for m := (flow.Move{}); h.at.NextAction == ""; {
				for range 2 {
					h.advance(t, m)
				}
				if h.at.Order == "" {
					continue
				}
				done := h.carry(t, "worker")
				if newWorkflow {
					h.advance(t, flow.Move{})
				}
				if again := h.carry(t, "other"); again != done {
					t.Errorf("the repeated order to %s gives %v, want %v", h.at.Step.Kind, again, done)
				}
				m.Result, m.Draft = done.Result, done.Draft
			}
			h.wantCommitted(t, "executor", "critic", "build-fixer", "critic")
			wantEvents(t, h.events(t), local.events(t))
		})
	}
}

// TestAttemptsAtOnce has two workers that both run the agent of an order: one has done it,
// and the other returns that one's result.
func TestAttemptsAtOnce(t *testing.T) {
	agents := oneRound()
	agents["executor"] = []fakeagent.Scenario{fakeagent.Edits(fakeagent.Step{Await: &fakeagent.Await{Calls: 2}})}
	h := newHand(t, "", agents)
	h.advance(t, flow.Move{})
	var all sync.WaitGroup
	var done [2]flow.Done
	for i, name := range []string{"worker", "other"} {
		all.Go(func() {
			var err error
			if done[i], err = h.tryCarry(t, name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done[0] != done[1] {
		t.Errorf("the attempts have different results: %v", done)
	}
	h.advance(t, flow.Move{Result: done[1].Result, Draft: done[1].Draft})
	h.finish(t)
	h.wantCommitted(t, "executor", "executor", "critic")
}

// TestLostAgents repeats an order whose worker died while its agent ran. The possible usage of
// that run counts.
func TestLostAgents(t *testing.T) {
	h := newHand(t, "budget: {spawn: {tokens: 300}}\n", oneRound())
	h.advance(t, flow.Move{})
	dead := flow.Progress{Run: "run-aaaaaaaaaaaaaaaaaaaaaaaaaa", Agent: "executor", Adapter: "claude"}
	done := h.carry(t, "worker", dead)
	for range 2 {
		h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	}
	if kinds := h.kinds(t); !slices.Equal(kinds[2:6], []string{"spawn-begun", "spawn-ended", "spawn-begun", "spawn-ended"}) {
		t.Errorf("the home has recorded %v", kinds)
	}
	if used := h.state(t).Spent; used.Task.Tokens != 540 {
		t.Errorf("the task has used %+v, want 300 tokens for the lost run and 240", used)
	}
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

// TestManyLostAgents repeats an order of which more agents died than can run at once.
func TestManyLostAgents(t *testing.T) {
	h := newHand(t, "", oneRound())
	h.advance(t, flow.Move{})
	var dead []flow.Progress
	for i := range task.MaxOpenRuns + 1 {
		dead = append(dead, flow.Progress{Run: fmt.Sprintf("run-%026d", i), Agent: "executor", Adapter: "claude"})
	}
	done := h.carry(t, "worker", dead...)
	h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	h.finish(t)
	h.wantCommitted(t, "executor", "critic")
}

// TestChangedMeanwhile changes the task at home while a worker carries out its order. The usage
// of the agent is recorded, once and outside of the task, and the result is dropped.
func TestChangedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, h *hand)
		// orders are carried out before the one that is interrupted.
		orders int
		spent  int64
	}{
		"stopped in a draft":  {stop, 0, 0},
		"stopped in a review": {stop, 1, 240},
		"resumed": {func(t *testing.T, h *hand) {
			stop(t, h)
			if _, err := h.home(t).Engine.Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual}); err != nil {
				t.Fatal(err)
			}
		}, 1, 240},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "", oneRound())
			h.advance(t, flow.Move{})
			for range c.orders {
				done := h.carry(t, "worker")
				h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			}
			done := h.carry(t, "worker")
			c.change(t, h)
			before := h.state(t)
			for range 2 {
				h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
			}
			after := h.state(t)
			if after.Status != before.Status || after.Round != before.Round || after.Spent.Task.Tokens != c.spent {
				t.Errorf("the task is %s in round %d after %d tokens, want %s in round %d after %d", after.Status, after.Round, after.Spent.Task.Tokens, before.Status, before.Round, c.spent)
			}
			outside := 0
			for ev, err := range h.engine(t).Events(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if ev.Task != "T" && ev.Kind == string(task.KindSpawnEnded) {
					outside++
				}
			}
			if outside != 1 {
				t.Errorf("%d runs are recorded outside of the task, want 1", outside)
			}
			if kinds := h.kinds(t); slices.Contains(kinds, string(task.KindDecided)) {
				t.Errorf("the home has decided: %v", kinds)
			}
			if after.Status == task.Stuck {
				if _, err := h.home(t).Engine.Resume(t.Context(), "T", api.ResumeRequest{Mode: task.Manual}); err != nil {
					t.Fatal(err)
				}
				h.advance(t, flow.Move{})
			}
			h.finish(t)
			if h.at.NextAction != "commit" {
				t.Errorf("the task ends with %+v (%+v)", h.at, h.at.Failure)
			}
		})
	}
}

func stop(t *testing.T, h *hand) {
	if _, err := h.home(t).Engine.Stop(t.Context(), "T", api.StopRequest{Reason: "not now"}); err != nil {
		t.Fatal(err)
	}
}

// TestAnswers answers a question that is not open, one twice, and one by an answer that
// does not fit. Only the first that fits counts.
func TestAnswers(t *testing.T) {
	agents := oneRound()
	agents["critic"] = []fakeagent.Scenario{finds("question-to-user"), fakeagent.Clean()}
	agents["build-fixer"] = agents["executor"]
	h := newHand(t, "", agents)
	h.advance(t, flow.Move{Answers: []flow.Answer{{Question: "round-1", Text: "too early"}}})
	for h.at.Step.Kind != task.StepAsk {
		done := h.carry(t, "worker")
		h.advance(t, flow.Move{Result: done.Result, Draft: done.Draft})
	}
	q := h.at.Question.Fingerprint
	move := flow.Move{Answers: []flow.Answer{
		{Question: "sha256:00", Text: "x"}, {Question: q, Choice: 7}, {Question: q, Text: "the first", By: "alice\u202e\n"}, {Question: q, Text: "the first", By: "bob"}, {Question: q, Text: "the second"},
	}}
	for range 2 {
		h.advance(t, move)
	}
	h.finish(t)
	h.wantCommitted(t, "executor", "critic", "build-fixer", "critic")
	var answers []string
	for ev, err := range h.engine(t).Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == string(task.KindAnswered) {
			answers = append(answers, string(ev.Body))
		}
	}
	if len(answers) != 1 || !strings.Contains(answers[0], `"by":"alice<U+202E>"`) {
		t.Errorf("the home has recorded the answers %q, want one of alice", answers)
	}
}
