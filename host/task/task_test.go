package task_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/task"
)

func TestBegin(t *testing.T) {
	last := &task.Decided{Round: 2, Reason: "max-rounds"}
	for _, c := range []struct {
		name                    string
		state                   task.State
		expected, max, fallback int
		round, rounds           int
		code                    fault.Code
	}{
		{name: "new task", fallback: 3, round: 1, rounds: 3},
		{name: "new task with its own cap", max: 7, fallback: 3, round: 1, rounds: 7},
		{name: "the task keeps its cap", state: task.State{Round: 2, MaxRounds: 5, Status: task.Open}, fallback: 3, round: 2, rounds: 5},
		{name: "the caller's cap wins", state: task.State{Round: 2, MaxRounds: 5, Status: task.Open}, max: 8, fallback: 3, round: 2, rounds: 8},
		{name: "expected round", state: task.State{Round: 2, MaxRounds: 5, Status: task.Open}, expected: 2, round: 2, rounds: 5},
		{name: "stale caller", state: task.State{Round: 2, MaxRounds: 5, Status: task.Open}, expected: 1, code: task.CodeRoundShifted},
		{name: "early caller", expected: 2, fallback: 3, code: task.CodeRoundShifted},
		{name: "waiting", state: task.State{Round: 3, Status: task.Waiting, Last: last}, code: task.CodeWaiting},
		{name: "stuck", state: task.State{Round: 2, Status: task.Stuck, Last: last}, code: task.CodeStuck},
		{name: "committed", state: task.State{Round: 2, Status: task.Committed, Last: last}, code: task.CodeCommitted},
	} {
		t.Run(c.name, func(t *testing.T) {
			round, rounds, err := task.Begin(c.state, c.expected, c.max, c.fallback)
			if fault.CodeOf(err) != c.code || round != c.round || rounds != c.rounds {
				t.Errorf("got %d, %d, %v", round, rounds, err)
			}
		})
	}
}

func TestDecideAndApply(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome task.Outcome
		next    int
		status  task.Status
	}{
		{"executor", task.Outcome{NextAction: "executor", Kind: "agent", AdvancesRound: true}, 2, task.Open},
		{"plan-checker stays in its round", task.Outcome{NextAction: "plan-checker", Kind: "agent"}, 1, task.Open},
		{"red verification advances", task.Outcome{NextAction: "plan-checker", Kind: "agent", VerifyRed: true}, 2, task.Open},
		{"askuser waits", task.Outcome{NextAction: "askuser", Kind: "human", AdvancesRound: true}, 2, task.Waiting},
		{"commit", task.Outcome{NextAction: "commit", Kind: "terminal"}, 1, task.Committed},
		{"stuck", task.Outcome{NextAction: "stuck", Kind: "terminal"}, 1, task.Stuck},
		{"stuck on red stays in its round", task.Outcome{NextAction: "stuck", Kind: "terminal", VerifyRed: true}, 1, task.Stuck},
		{"another end is stuck", task.Outcome{NextAction: "abandon", Kind: "terminal"}, 1, task.Stuck},
	} {
		t.Run(c.name, func(t *testing.T) {
			event := task.Decide(1, 3, c.outcome)
			state, err := task.Apply(task.State{}, event)
			if err != nil {
				t.Fatal(err)
			}
			if event.NextRound != c.next || state.Round != c.next || state.Status != c.status || state.MaxRounds != 3 {
				t.Errorf("event %+v, state %+v", event, state)
			}
		})
	}
}

func TestApplyRefusesImpossibleHistories(t *testing.T) {
	open := task.State{Round: 2, MaxRounds: 3, Status: task.Open}
	for name, c := range map[string]struct {
		state task.State
		event task.Decided
	}{
		"round skipped":        {open, task.Decided{Round: 3, NextRound: 4}},
		"round repeated":       {open, task.Decided{Round: 1, NextRound: 2}},
		"round jumps":          {open, task.Decided{Round: 2, NextRound: 4}},
		"round falls":          {open, task.Decided{Round: 2, NextRound: 1}},
		"decision after stuck": {task.State{Round: 2, Status: task.Stuck}, task.Decided{Round: 2, NextRound: 3}},
		"first round is not 1": {task.State{}, task.Decided{Round: 2, NextRound: 3}},
	} {
		if got, err := task.Apply(c.state, c.event); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

// TestHistories drives random outcomes through Begin, Decide and Apply.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s task.State
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			round, rounds, err := task.Begin(s, 0, 0, 5)
			if err != nil {
				if s.Status == task.Open || s.Status == "" {
					t.Fatalf("an open task is refused: %v", err)
				}
				return
			}
			o := task.Outcome{
				NextAction:    rapid.SampledFrom([]string{"commit", "stuck", "askuser", "executor", "plan-checker"}).Draw(t, "action"),
				AdvancesRound: rapid.Bool().Draw(t, "advances"),
				VerifyRed:     rapid.Bool().Draw(t, "red"),
			}
			o.Kind = map[string]string{"commit": "terminal", "stuck": "terminal", "askuser": "human"}[o.NextAction]
			before := s
			event := task.Decide(round, rounds, o)
			if s, err = task.Apply(s, event); err != nil {
				t.Fatalf("own event refused: %v", err)
			}
			again, _ := task.Apply(before, event)
			if !reflect.DeepEqual(again, s) {
				t.Fatal("folding is not deterministic")
			}
			if err := s.Check(); err != nil {
				t.Fatalf("own state refused: %v", err)
			}
			if s.Round < max(before.Round, 1) || s.Round > round+1 || s.MaxRounds != 5 {
				t.Fatalf("round went from %d to %d", before.Round, s.Round)
			}
		}
	})
}

func TestCheckRefusesEditedStates(t *testing.T) {
	good, err := task.Apply(task.State{}, task.Decide(1, 3, task.Outcome{NextAction: "stuck", Kind: "terminal"}))
	if err != nil || good.Check() != nil {
		t.Fatal(err, good.Check())
	}
	for name, edit := range map[string]func(*task.State){
		"no decision":    func(s *task.State) { s.Last = nil },
		"reopened":       func(s *task.State) { s.Status = task.Open },
		"unknown status": func(s *task.State) { s.Status = "fine" },
		"another round":  func(s *task.State) { s.Round = 2 },
		"round 0":        func(s *task.State) { s.Round = 0 },
		"cap raised":     func(s *task.State) { s.MaxRounds = 9 },
		"cap out of range": func(s *task.State) {
			s.MaxRounds, s.Last = 1000, &task.Decided{Round: 1, NextRound: 1, MaxRounds: 1000}
		},
	} {
		edited := good
		edit(&edited)
		if err := edited.Check(); err == nil {
			t.Errorf("%s: accepted %+v", name, edited)
		}
	}
	if err := (task.State{}).Check(); err == nil {
		t.Error("the zero state passes for that of a task")
	}
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{"M001-S001-T0001", "a", "0", "a.b_c-d", strings.Repeat("x", 128)} {
		if err := task.CheckID(id); err != nil {
			t.Errorf("%q refused: %v", id, err)
		}
	}
	for _, id := range []string{"", ".", "-a", "_a", "a/b", "a b", "a\n", "ä", "../x", strings.Repeat("x", 129)} {
		if err := task.CheckID(id); fault.CodeOf(err) != task.CodeInvalidID {
			t.Errorf("%q: %v", id, err)
		}
	}
}
