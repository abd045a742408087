package task_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// exhausted returns the error of a reservation that a budget does not cover.
func exhausted(t tester, s task.State, c task.ReserveRuns) *errs.Error {
	t.Helper()
	return refuse(t, s, c, errs.BudgetExhausted)
}

// asks makes a task ask whether to raise the budget that covers c.
func asks(t tester, s task.State, c task.ReserveRuns) task.State {
	t.Helper()
	return do(t, s, task.AskUser{Question: task.AskForBudget(s, exhausted(t, s, c))})
}

func TestARaisedBudgetCoversTheRun(t *testing.T) {
	begun := do(t, task.State{}, beginBranch, task.CreateBranch{}, spawning(costly("a", 40)), markUsed("a", 30))
	second := decide(t, begun, toExecutor)
	for name, c := range map[string]struct {
		state  task.State
		limits task.Limits
		unit   string
		choice string
	}{
		"task-time":     {begun, task.Limits{Task: task.Amount{Millis: 36}}, "task-time", "raise by 36ms"},
		"task-tokens":   {begun, task.Limits{Task: task.Amount{Tokens: 39}}, "task-tokens", "raise by 39 tokens"},
		"task-dollars":  {begun, task.Limits{Task: task.Amount{MicroDollars: 30}}, "task-dollars", "raise by $0.00003"},
		"round-time":    {begun, task.Limits{Round: task.Amount{Millis: 3}}, "round-time", "raise by 37ms"},
		"round-tokens":  {begun, task.Limits{Round: task.Amount{Tokens: 1}}, "round-tokens", "raise by 39 tokens"},
		"round-dollars": {begun, task.Limits{Round: task.Amount{MicroDollars: 9}}, "round-dollars", "raise by $0.000031"},
		"task-rounds":   {second, task.Limits{Rounds: 1}, "task-rounds", "raise by 1 round"},
	} {
		t.Run(name, func(t *testing.T) {
			more := task.ReserveRuns{Intents: []task.Intent{costly("b", 10)}, Limits: c.limits}
			q := task.AskForBudget(c.state, exhausted(t, c.state, more))
			if q.Budget != c.unit || q.Choices[0] != c.choice || q.Choices[1] != "stop" {
				t.Errorf("asks %+v", q)
			}
			asked := do(t, c.state, task.AskUser{Question: q})
			refuse(t, asked, more, errs.TaskWaiting)
			paid := do(t, asked, task.AnswerQuestion{Choice: 1, By: "somebody"})
			if paid.Status != task.Open || paid.Round != c.state.Round || paid.Questions.Answers[0].Choice != 1 {
				t.Errorf("%s in round %d, %+v", paid.Status, paid.Round, paid.Questions)
			}
			do(t, paid, more)
			nothing(t, paid, task.AnswerQuestion{Choice: 1, By: "somebody"})
			// The user can pay in words, too, and what was paid stays with the task.
			words := do(t, asked, answer("", c.choice))
			do(t, words, more)
			if words.Raised != paid.Raised {
				t.Errorf("%+v in words, %+v by choice", words.Raised, paid.Raised)
			}
			later := do(t, paid, task.StopTask{Reason: "enough"}, task.ResumeTask{Mode: task.Reset, Fallback: 3})
			if later.Raised != paid.Raised {
				t.Errorf("a reset leaves %+v", later.Raised)
			}
		})
	}
}

func TestTheUserStopsForABudget(t *testing.T) {
	more := task.ReserveRuns{Intents: []task.Intent{costly("b", 10)}, Limits: task.Limits{Task: all(9)}}
	asked := asks(t, inBranch(t), more)
	for _, c := range []task.AnswerQuestion{{Choice: 2, By: "ann"}, {Text: "stop", By: "ann"}, {Text: " Stop", By: "ann"}} {
		s := do(t, asked, c)
		if s.Status != task.Stuck || *s.Stop != (task.Stop{Round: 1, Reason: "budget", By: "ann"}) || s.Raised != (task.Raise{}) {
			t.Errorf("%s, %+v, %+v", s.Status, s.Stop, s.Raised)
		}
		refuse(t, s, c, errs.TaskStuck)
		do(t, s, task.ResumeTask{Mode: task.MoreRounds, Rounds: 1})
	}
	nothing(t, asked, task.ExpireQuestions{Now: evening})
}

func TestAnswersAboutBudgets(t *testing.T) {
	ask := func(unit string) task.State {
		return do(t, inBranch(t), task.AskUser{Question: task.Question{
			Fingerprint: "b", Text: "Raise it?", Choices: []string{"raise by 1", "stop"}, Budget: unit,
		}})
	}
	for _, c := range []struct {
		unit, text string
		want       task.Raise
	}{
		{"task-dollars", "raise by $2.50", task.Raise{Amount: task.Amount{MicroDollars: 2_500_000}}},
		{"round-dollars", "2.5", task.Raise{Amount: task.Amount{MicroDollars: 2_500_000}}},
		{"task-dollars", "1.1", task.Raise{Amount: task.Amount{MicroDollars: 1_100_000}}},
		{"task-dollars", "$0.000001", task.Raise{Amount: task.Amount{MicroDollars: 1}}},
		{"task-dollars", "5 dollars", task.Raise{Amount: task.Amount{MicroDollars: 5_000_000}}},
		{"task-dollars", " Raise by 2000000 ", task.Raise{Amount: task.Amount{MicroDollars: 2_000_000_000_000}}},
		{"task-time", "10m", task.Raise{Amount: task.Amount{Millis: 600_000}}},
		{"round-time", "raise by 1h0m0.5s", task.Raise{Amount: task.Amount{Millis: 3_600_500}}},
		{"task-tokens", "50000 tokens", task.Raise{Amount: task.Amount{Tokens: 50_000}}},
		{"round-tokens", "raise by 7", task.Raise{Amount: task.Amount{Tokens: 7}}},
		{"task-tokens", "9223372036854775807", task.Raise{Amount: task.Amount{Tokens: math.MaxInt64}}},
		{"task-rounds", "3 rounds", task.Raise{Rounds: 3}},
		{"task-rounds", "1 round", task.Raise{Rounds: 1}},
		{"task-rounds", "raise by 100", task.Raise{Rounds: 100}},
	} {
		if s := do(t, ask(c.unit), answer("b", c.text)); s.Raised != c.want || s.Status != task.Open {
			t.Errorf("%s, %q: raised by %+v", c.unit, c.text, s.Raised)
		}
	}
	for unit, texts := range map[string][]string{
		"task-dollars": {"$", "0", "0.0000001", "-1", "-0.5", "+", "1e3", "0x10", "NaN", "Inf", "1_000", "9223372036855", "1,5", "$$1", "1.2.3", ".", "10m"},
		"task-time":    {"10", "-10m", "0s", "0.5ms", "9999999h", "300000000h", "tomorrow", "$2"},
		"task-tokens":  {"0", "-5", "1.5", "50,000", "9223372036854775808", "$2", "10m"},
		"task-rounds":  {"0", "-1", "101", "99999999999999999999", "1.5", "3 tokens"},
	} {
		for _, text := range append(texts, "yes", "raise by", "raise", "stop it", "\x00") {
			refuse(t, ask(unit), answer("b", text), errs.AnswerInvalid)
		}
	}
	edited := ask("task-tokens")
	edited.Questions.Open[0].Choices = nil
	refuse(t, edited, answer("b", "yes"), errs.AnswerInvalid)
}

// TestEveryBudgetQuestionCanBeAnswered checks that the suggested choice of any budget is
// enough, and that no raise overflows.
func TestEveryBudgetQuestionCanBeAnswered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := func(label string, most int64) int64 { return rapid.Int64Range(1, most).Draw(t, label) }
		// Three times of the second amount fit into a time.Duration.
		most := rapid.SampledFrom([]int64{50, 3_000_000_000_000, math.MaxInt64 / 10_000_000}).Draw(t, "most")
		s := inBranch(t)
		if rapid.Bool().Draw(t, "spent") {
			s = do(t, s, spawning(costly("a", amount("spent", most))), ended("a"), spawning(costly("open", amount("open", most))))
		}
		limit := rapid.SampledFrom([]func(int64) task.Amount{
			func(n int64) task.Amount { return task.Amount{Millis: n} },
			func(n int64) task.Amount { return task.Amount{Tokens: n} },
			func(n int64) task.Amount { return task.Amount{MicroDollars: n} },
		}).Draw(t, "unit")(amount("limit", most))
		c := task.ReserveRuns{Intents: []task.Intent{costly("b", amount("wanted", most))}}
		if rapid.Bool().Draw(t, "of the round") {
			c.Limits.Round = limit
		} else {
			c.Limits.Task = limit
		}
		_, err := task.Decide(s, c)
		f, ok := errors.AsType[*errs.Error](err)
		if !ok {
			return // The budget is enough.
		}
		q := task.AskForBudget(s, f)
		s = do(t, s, task.AskUser{Question: q}, task.AnswerQuestion{Choice: 1, By: "somebody"})
		do(t, s, c)
	})
	// The largest amounts saturate.
	s := do(t, inBranch(t), spawning(costly("a", math.MaxInt64)), lost("a"))
	more := task.ReserveRuns{Intents: []task.Intent{costly("b", 1)}, Limits: task.Limits{Task: task.Amount{Tokens: math.MaxInt64 - 1}}}
	for range 2 {
		s = do(t, asks(t, s, more), task.AnswerQuestion{Choice: 1, By: "somebody"})
		if _, err := task.Decide(s, more); err == nil {
			t.Errorf("%+v covers everything", s.Raised)
		}
	}
}

func TestQuestionsOfAPlanChecker(t *testing.T) {
	s := decide(t, inBranch(t), toPlanChecker)
	asked := do(t, s, task.AskUser{Question: when})
	if asked.Status != task.Waiting || asked.Round != s.Round || !asked.Questions.Inserted || asked.NonAdvancing != s.NonAdvancing {
		t.Errorf("%s in round %d, %+v", asked.Status, asked.Round, asked.Questions)
	}
	refuse(t, asked, task.AskUser{Question: which}, errs.TaskWaiting)
	for _, answered := range []task.State{do(t, asked, answer("", "never")), do(t, asked, task.ExpireQuestions{Now: evening})} {
		if answered.Status != task.Open || answered.Round != s.Round || answered.Questions.Answers[0].Question != when.Text {
			t.Errorf("%s in round %d, %+v", answered.Status, answered.Round, answered.Questions)
		}
	}
	if e, err := task.Apply(task.State{}, task.QuestionAsked{Round: 1}); err == nil {
		t.Errorf("nothing is asked: %+v", e)
	}
}
