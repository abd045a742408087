package task_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

const (
	morning = "2026-11-21T08:00:00.000000000Z"
	noon    = "2026-11-21T12:00:00.000000000Z"
	evening = "2026-11-21T20:00:00.000000000Z"
)

var (
	which = task.Question{Fingerprint: "q1", Text: "Which key?", Choices: []string{"ours", "theirs"}}
	when  = task.Question{Fingerprint: "q2", Text: "Until when?", Default: "tomorrow", ExpiresAt: noon}
)

func answer(fingerprint, text string) task.AnswerQuestion {
	return task.AnswerQuestion{Fingerprint: fingerprint, Text: text, By: "somebody"}
}

func TestReply(t *testing.T) {
	one := decide(t, do(t, task.State{}, begin), asking(true, which))
	both := decide(t, do(t, task.State{}, begin), asking(true, which, when))

	t.Run("the last answer opens the round that was decided for", func(t *testing.T) {
		s := do(t, both, answer("q2", "next week"))
		if s.Status != task.Waiting || s.Round != 2 {
			t.Fatalf("%s in round %d", s.Status, s.Round)
		}
		s = do(t, s, answer("q1", "ours"))
		if s.Status != task.Open || s.Round != 2 || s.DraftAgent() != task.AgentFixer {
			t.Errorf("%s in round %d", s.Status, s.Round)
		}
		want := []task.Answer{{Fingerprint: "q2", Question: "Until when?", Text: "next week", By: "somebody"}, {Fingerprint: "q1", Question: "Which key?", Text: "ours", Choice: 1, By: "somebody"}}
		if !slices.Equal(s.Questions.Answers, want) {
			t.Errorf("answers %+v", s.Questions.Answers)
		}
		decide(t, s, toExecutor)
	})
	t.Run("a question that keeps its round", func(t *testing.T) {
		s := do(t, decide(t, do(t, task.State{}, begin), asking(false, which)), answer("", "ours"))
		if s.Status != task.Open || s.Round != 1 {
			t.Errorf("%s in round %d", s.Status, s.Round)
		}
	})
	t.Run("a choice is its text", func(t *testing.T) {
		for _, first := range []task.AnswerQuestion{{Choice: 2}, {Text: "theirs"}, {Round: 1, Fingerprint: "q1", Choice: 2}} {
			s := do(t, one, first)
			for _, again := range []task.AnswerQuestion{{Choice: 2}, {Text: "theirs"}, answer("q1", "theirs"), {Round: 1, Choice: 2}} {
				nothing(t, s, again)
			}
			refuse(t, s, task.AnswerQuestion{Choice: 1}, errs.QuestionAnswered)
			err := refuse(t, s, answer("q1", "mine"), errs.QuestionAnswered)
			if err.Details["answer"] != "theirs" {
				t.Errorf("details %v", err.Details)
			}
		}
	})
	t.Run("which question", func(t *testing.T) {
		err := refuse(t, both, answer("", "ours"), errs.QuestionUnknown)
		if got, _ := err.Details["questions"].([]string); !slices.Equal(got, []string{"q1", "q2"}) {
			t.Errorf("details %v", err.Details)
		}
		refuse(t, both, answer("q3", "ours"), errs.QuestionUnknown)
		// A single open question needs no fingerprint.
		if s := do(t, both, answer("q1", "ours"), answer("", "next week")); s.Status != task.Open {
			t.Errorf("%+v", s.Questions)
		}
		answered := do(t, both, answer("q1", "ours"), answer("q2", "next week"))
		refuse(t, answered, answer("", "next week"), errs.TaskNotWaiting)
	})
	t.Run("no answer", func(t *testing.T) {
		for _, r := range []task.AnswerQuestion{{}, {Choice: 3}, {Choice: -1}, {Text: strings.Repeat("x", task.MaxAnswer+1)}} {
			err := refuse(t, one, r, errs.AnswerInvalid)
			if got, _ := err.Details["choices"].([]string); !slices.Equal(got, which.Choices) {
				t.Errorf("details %v", err.Details)
			}
		}
		do(t, one, task.AnswerQuestion{Text: strings.Repeat("x", task.MaxAnswer)})
	})
	t.Run("an older round", func(t *testing.T) {
		again := decide(t, do(t, one, answer("", "ours")), asking(true, which))
		refuse(t, again, task.AnswerQuestion{Round: 1, Text: "ours"}, errs.QuestionStale)
		refuse(t, again, task.AnswerQuestion{Round: 3, Text: "ours"}, errs.QuestionStale)
		do(t, again, task.AnswerQuestion{Round: 2, Text: "theirs"})
		decided := decide(t, do(t, one, answer("", "ours")), toExecutor)
		refuse(t, decided, task.AnswerQuestion{Round: 1, Text: "ours"}, errs.QuestionStale)
		refuse(t, decided, task.AnswerQuestion{Text: "ours"}, errs.TaskNotWaiting)
	})
	t.Run("a task that nobody knows", func(t *testing.T) {
		refuse(t, task.State{}, task.AnswerQuestion{Round: 1, Text: "ours"}, errs.TaskNotFound)
	})
	t.Run("nothing is decided meanwhile", func(t *testing.T) {
		err := refuse(t, both, task.RecordVerification{Force: force}, errs.TaskWaiting)
		if !strings.Contains(err.Message, "round 1") {
			t.Errorf("%v does not say which round asked", err)
		}
	})
}

func TestExpire(t *testing.T) {
	both := decide(t, do(t, task.State{}, begin), asking(true, which, when))
	nothing(t, both, task.ExpireQuestions{Now: morning})
	for _, now := range []string{noon, evening} {
		s := do(t, both, task.ExpireQuestions{Now: now})
		want := []task.Answer{{Fingerprint: "q2", Question: "Until when?", Text: "tomorrow", By: "expiry", Default: true}}
		if s.Status != task.Waiting || !slices.Equal(s.Questions.Answers, want) {
			t.Errorf("at %s: %s, %+v", now, s.Status, s.Questions.Answers)
		}
		nothing(t, s, task.ExpireQuestions{Now: now})
		nothing(t, s, answer("q2", "tomorrow"))
		refuse(t, s, answer("q2", "never"), errs.QuestionAnswered)
		if s = do(t, s, answer("q1", "ours")); s.Status != task.Open {
			t.Errorf("%s", s.Status)
		}
	}
	t.Run("without a default it waits for ever", func(t *testing.T) {
		forEver := when
		forEver.Default = ""
		nothing(t, decide(t, do(t, task.State{}, begin), asking(true, forEver)), task.ExpireQuestions{Now: evening})
	})
	t.Run("only while waiting", func(t *testing.T) {
		for status, s := range standing(t) {
			if status != task.Waiting {
				nothing(t, s, task.ExpireQuestions{Now: evening})
			}
		}
	})
}
