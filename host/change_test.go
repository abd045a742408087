package host_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// each runs f in many engines concurrently and returns the errors.
func each(t *testing.T, root string, n int, f func(i int, e *host.Engine) error) []error {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		e := newEngine(t, root, noon)
		wg.Go(func() {
			<-start
			errs[i] = f(i, e)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// TestConcurrentAttestations checks that concurrent attestations do not conflict.
func TestConcurrentAttestations(t *testing.T) {
	root := t.TempDir()
	const agents = 12
	for i, err := range each(t, root, agents, func(i int, e *host.Engine) error {
		_, err := e.Audit(t.Context(), "T", api.AuditRequest{Agent: task.AgentCritic, Run: fmt.Sprint("run-", i)})
		return err
	}) {
		if err != nil {
			t.Errorf("agent %d: %v", i, err)
		}
	}
	got, err := newEngine(t, root, noon).Task(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Attestations) != agents {
		t.Errorf("%d attestations are there, want %d", len(got.Attestations), agents)
	}
}

// TestResumedOnce checks that only one of several concurrent resumes succeeds.
func TestResumedOnce(t *testing.T) {
	root := t.TempDir()
	if _, err := newEngine(t, root, noon).Stop(t.Context(), "T", api.StopRequest{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for i, err := range each(t, root, 8, func(_ int, e *host.Engine) error {
		_, err := e.Resume(t.Context(), "T", host.ResumeRequest{Mode: task.MoreRounds, Rounds: 5})
		return err
	}) {
		switch errs.CodeOf(err) {
		case "":
			resumed++
		case errs.RoundShifted, errs.TaskNotStuck:
		default:
			t.Errorf("engine %d: %v", i, err)
		}
	}
	got, err := newEngine(t, root, noon).Task(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	if resumed != 1 || got.Round != 2 || got.MaxRounds != 6 {
		t.Errorf("resumed %d times, now in round %d of %d; want once, round 2 of 6", resumed, got.Round, got.MaxRounds)
	}
}

// TestConcurrentAnswers checks that concurrent identical answers count as one, and that
// different ones fail.
func TestConcurrentAnswers(t *testing.T) {
	root := t.TempDir()
	question := `{"critic":"critic","findings":[{"category":"question-to-user","remediation":"Which?"}]}`
	if _, err := newEngine(t, root, noon).Round(t.Context(), "T", request(question)); err != nil {
		t.Fatal(err)
	}
	accepted := make(map[string]int)
	texts := []string{"this", "that"}
	for i, err := range each(t, root, 8, func(i int, e *host.Engine) error {
		_, err := e.Answer(t.Context(), "T", host.AnswerRequest{Text: texts[i%2]})
		return err
	}) {
		switch errs.CodeOf(err) {
		case "":
			accepted[texts[i%2]]++
		case errs.QuestionAnswered:
		default:
			t.Errorf("engine %d: %v", i, err)
		}
	}
	got, err := newEngine(t, root, noon).Task(t.Context(), "T")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Questions.Answers) != 1 || len(accepted) != 1 || accepted[got.Questions.Answers[0].Text] != 4 {
		t.Errorf("accepted %v, recorded %+v; want one of them, from its four", accepted, got.Questions.Answers)
	}
}
