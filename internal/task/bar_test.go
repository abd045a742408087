package task_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/task"
)

// below returns an outcome with a bar.
func below(bar string, o task.DecideRound) task.DecideRound {
	o.Bar = bar
	return o
}

func TestBarSince(t *testing.T) {
	t.Parallel()
	risk := decide(t, decide(t, do(t, task.State{}, begin), toExecutor), below("risk", toExecutor))
	churn := decide(t, decide(t, do(t, task.State{}, begin), toExecutor), asking(true, task.AskAboutChurn(2, 2, 6)))
	for _, c := range []struct {
		id    string
		state task.State
		bar   string
		since int
	}{
		{"first", risk, "risk", 2},
		{"the same again", decide(t, risk, below("risk", toExecutor)), "risk", 2},
		{"higher", decide(t, risk, below("fail", toStuck)), "fail", 3},
		{"resumed", do(t, decide(t, risk, below("risk", toStuck)), task.ResumeTask{Mode: task.MoreRounds, Rounds: 5}), "", 0},
		{"started again", do(t, decide(t, risk, below("risk", toStuck)), begin), "", 0},
		{"by an answer", do(t, churn, task.AnswerQuestion{Round: 2, Choice: 2}), "fail", 3},
	} {
		if c.state.Bar != c.bar || c.state.BarSince != c.since {
			t.Errorf("%s: the bar is %q since round %d, want %q since %d", c.id, c.state.Bar, c.state.BarSince, c.bar, c.since)
		}
	}
	lower := toward(t, risk, toExecutor)
	e, err := task.Decide(risk, lower)
	if err == nil {
		_, err = task.Apply(risk, e)
	}
	if err == nil {
		t.Error("the bar falls within a task")
	}
}
