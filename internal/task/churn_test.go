package task_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// churning returns a task with a cap of 3 rounds that waits, in round 3, for the answer to
// the question about churn of round 2.
func churning(t tester) task.State {
	t.Helper()
	s := decide(t, do(t, task.State{}, begin), toExecutor)
	o := asking(true, task.AskAboutChurn(2, 2, 6))
	o.Reason, o.InducedRounds = task.ReasonChurn, 2
	return decide(t, s, o)
}

func TestAnswersAboutChurn(t *testing.T) {
	asked := churning(t)
	q := asked.Questions.Open[0]
	if q.Fingerprint != "churn-2" || !strings.Contains(q.Text, "the last 2 reviews.") || !strings.HasSuffix(q.Text, "to round 6 at most?") || asked.InducedRounds != 2 {
		t.Fatalf("%+v after %d reviews", q, asked.InducedRounds)
	}
	for _, c := range []struct {
		answer    task.AnswerQuestion
		text, bar string
		cap       int
	}{
		{task.AnswerQuestion{Choice: 1}, "cut or restructure", "", 3},
		{task.AnswerQuestion{Text: "Drop the cache"}, "Drop the cache", "", 3},
		{task.AnswerQuestion{Choice: 2}, "land with the residual risk", "fail", 3},
		{task.AnswerQuestion{Text: "Land with the residual risk"}, "Land with the residual risk", "fail", 3},
		{task.AnswerQuestion{Text: "Never land with the residual risk"}, "Never land with the residual risk", "", 3},
		{task.AnswerQuestion{Choice: 3}, "go on for 2 rounds", "", 4},
		{task.AnswerQuestion{Text: "go on for 1 round"}, "go on for 1 round", "", 3},
		{task.AnswerQuestion{Text: " Go on for 3"}, " Go on for 3", "", 5},
		{task.AnswerQuestion{Text: "go on for 4 rounds"}, "go on for 4 rounds", "", 6},
		{task.AnswerQuestion{Text: "go on for 100 rounds"}, "go on for 100 rounds", "", 6},
	} {
		s := do(t, asked, c.answer)
		if got := s.Questions.Answers[0].Text; got != c.text || s.Status != task.Open {
			t.Errorf("%+v: the answer is %q, and the task is %s", c.answer, got, s.Status)
		}
		if s.Bar != c.bar || s.MaxRounds != c.cap || s.HardCap != 6 || s.CustomCap != strings.Contains(strings.ToLower(c.text), "go on") {
			t.Errorf("%q: bar %q, cap %d (custom %t), hard cap %d", c.text, s.Bar, s.MaxRounds, s.CustomCap, s.HardCap)
		}
		if s.InducedRounds != 0 {
			t.Errorf("%q: %d induced rounds stay", c.text, s.InducedRounds)
		}
	}
	for _, text := range []string{"go on for 0 rounds", "go on for -1 rounds", "go on for 101 rounds", "go on for some rounds", "GO ON FOR 2.5 rounds"} {
		err := refuse(t, asked, task.AnswerQuestion{Text: text}, errs.AnswerInvalid)
		if !strings.Contains(err.Message, "from 1 to 100") {
			t.Errorf("%q: %s", text, err.Message)
		}
	}
	// The same words are only an answer to another question.
	other := decide(t, do(t, task.State{}, begin), asking(true, which))
	s := do(t, other, task.AnswerQuestion{Text: "go on for 0 rounds"})
	if s.MaxRounds != 3 || s.CustomCap {
		t.Errorf("an answer to another question changes the cap to %d", s.MaxRounds)
	}
}

// TestTheBarNeverFallsWithinATask compares random tasks with the highest bar since the
// last start or resumption.
func TestTheBarNeverFallsWithinATask(t *testing.T) {
	bars := []string{"", "risk", "fail"}
	rapid.Check(t, func(t *rapid.T) {
		s := do(t, task.State{}, task.StartWork{MaxRounds: 50})
		latched := 0
		for range 20 {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				s = do(t, s, task.StartWork{MaxRounds: 50, Force: force})
				latched = 0
			case 1:
				mode := rapid.SampledFrom([]task.Mode{task.MoreRounds, task.Replan, task.Manual, task.Reset}).Draw(t, "mode")
				s = do(t, s, task.StopTask{}, task.ResumeTask{Mode: mode, Rounds: 1, Fallback: 50})
				latched = 0
			case 2:
				o := asking(true, task.AskAboutChurn(s.Round, 3, 100))
				o.Bar = bars[latched]
				answer := rapid.IntRange(1, 3).Draw(t, "choice")
				if s = do(t, decide(t, s, o), task.AnswerQuestion{Choice: answer}); answer == 2 {
					latched = 2
				}
			default:
				bar := rapid.IntRange(0, 2).Draw(t, "bar")
				o := toExecutor
				o.Bar = bars[bar]
				e, err := task.Decide(s, toward(t, s, o))
				if err != nil {
					t.Fatal(err)
				}
				next, err := task.Apply(s, e)
				if (err != nil) != (bar < latched) {
					t.Fatalf("bar %q after %q: %v", bars[bar], bars[latched], err)
				}
				if err == nil {
					s, latched = next, bar
				}
			}
			if s.Bar != bars[latched] {
				t.Fatalf("the bar is %q, want %q", s.Bar, bars[latched])
			}
		}
	})
}

// TestAnUnknownBarIsRefused checks events that this package did not write.
func TestAnUnknownBarIsRefused(t *testing.T) {
	s := do(t, task.State{}, begin)
	for _, bar := range []string{"all", "nit", "FAIL"} {
		o := toExecutor
		o.Bar = bar
		e, err := task.Decide(s, toward(t, s, o))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Apply(s, e); err == nil {
			t.Errorf("the bar %q is accepted", bar)
		}
	}
}

// TestNoTaskPassesItsHardCap checks that neither decisions nor answers about churn lead
// beyond the hard cap, and that a resumption does.
func TestNoTaskPassesItsHardCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rounds := rapid.IntRange(1, 6).Draw(t, "max_rounds")
		hard := rapid.IntRange(rounds, 12).Draw(t, "hard_cap")
		s := do(t, task.State{}, task.StartWork{MaxRounds: rounds, HardCap: hard})
		for s.Round < hard {
			if s.HardCap != hard || s.MaxRounds > hard {
				t.Fatalf("the caps are %d and %d, want at most %d", s.MaxRounds, s.HardCap, hard)
			}
			if rapid.Bool().Draw(t, "asks") {
				s = decide(t, s, asking(true, task.AskAboutChurn(s.Round, 3, hard)))
				s = do(t, s, task.AnswerQuestion{Text: fmt.Sprintf("go on for %d rounds", rapid.IntRange(1, 100).Draw(t, "rounds"))})
				continue
			}
			s = decide(t, s, toExecutor)
		}
		for _, o := range []task.DecideRound{toExecutor, onRed, asking(true, which)} {
			refuse(t, s, toward(t, s, o), errs.RoundsExhausted)
		}
		more := do(t, decide(t, s, toStuck), task.ResumeTask{Mode: task.MoreRounds, Rounds: 2, Fallback: 3})
		if more.MaxRounds <= hard || more.HardCap < more.MaxRounds {
			t.Fatalf("a resumption leaves the caps at %d and %d", more.MaxRounds, more.HardCap)
		}
		decide(t, more, toExecutor)
	})
}
