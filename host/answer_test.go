package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// asking is a report with one question that expires in two hours and one that does not
// expire.
const asking = `{"critic":"critic","findings":[
  {"category":"question-to-user","remediation":"x","question_to_user":{"question":"Which port?","default":"443","expires_in":"2h"}},
  {"category":"question-to-user","remediation":"y","question_to_user":"Whose name?"}]}`

const onePort = `{"critic":"critic","findings":[
  {"category":"question-to-user","remediation":"x","question_to_user":{"question":"Which port?","default":"443","expires_in":"2h"}}]}`

// TestQuestionsExpire checks that the next command records an expired question's default
// as the answer, without a user.
func TestQuestionsExpire(t *testing.T) {
	clock := noon()
	e := newEngine(t, t.TempDir(), func() time.Time { return clock })
	if _, err := e.Round(t.Context(), "T", request(onePort)); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(2*time.Hour - time.Nanosecond)
	if _, err := e.Round(t.Context(), "T", request(clean)); errs.CodeOf(err) != errs.TaskWaiting {
		t.Fatalf("just before its time is over: %v", err)
	}
	clock = clock.Add(time.Nanosecond)
	got, err := e.Task(t.Context(), "T")
	if err != nil || got.Status != task.Waiting || got.Event != 1 {
		t.Fatalf("looking made it %s at event %d, %v", got.Status, got.Event, err)
	}
	if _, err := e.Answer(t.Context(), "T", host.AnswerRequest{Text: "80"}); errs.CodeOf(err) != errs.QuestionAnswered {
		t.Fatalf("an answer that comes too late: %v", err)
	}
	if _, err := e.Round(t.Context(), "T", request("")); errs.CodeOf(err) != "report-empty" {
		t.Fatalf("an empty report: %v", err)
	}
	if got, err = e.Task(t.Context(), "T"); err != nil || got.Status != task.Waiting {
		t.Fatalf("a round that failed made it %s, %v", got.Status, err)
	}
	d, err := e.Round(t.Context(), "T", request(clean))
	if err != nil || d.Round != 2 || d.Event.N != 3 {
		t.Fatalf("round %d at %v, %v; want round 2 as event 3", d.Round, d.Event, err)
	}
	x, err := e.Explain(t.Context(), "T", 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Answers) != 1 || x.Answers[0].Text != "443" || x.Answers[0].By != "expiry" || !x.Answers[0].Default {
		t.Errorf("the answer is %+v", x.Answers)
	}
}

// TestQuestionsExpireAlone checks that questions without an expiry stay open.
func TestQuestionsExpireAlone(t *testing.T) {
	clock := noon()
	e := newEngine(t, t.TempDir(), func() time.Time { return clock })
	d, err := e.Round(t.Context(), "T", request(asking))
	if err != nil || len(d.Questions) != 2 {
		t.Fatalf("%d questions, %v", len(d.Questions), err)
	}
	clock = clock.Add(3 * time.Hour)
	if _, err := e.Round(t.Context(), "T", request(clean)); errs.CodeOf(err) != errs.TaskWaiting {
		t.Fatalf("with a question open: %v", err)
	}
	step, err := e.Answer(t.Context(), "T", host.AnswerRequest{Text: "Ann's."})
	if err != nil || step.Status != task.Open || len(step.Questions.Answers) != 2 {
		t.Fatalf("%+v, %v", step.Questions, err)
	}
}

// TestWaitSeesExpiry checks that an expiry counts as a change.
func TestWaitSeesExpiry(t *testing.T) {
	clock := noon()
	e := newEngine(t, t.TempDir(), func() time.Time { return clock })
	if _, err := e.Round(t.Context(), "T", request(onePort)); err != nil {
		t.Fatal(err)
	}
	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Wait(brief, "T", -1); errs.CodeOf(err) != errs.WaitTimeout {
		t.Errorf("before its time is over: %v", err)
	}
	clock = clock.Add(2 * time.Hour)
	if err := e.Wait(t.Context(), "T", -1); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
