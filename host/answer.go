package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// AnswerRequest answers a question of a task that waits.
type AnswerRequest struct {
	// Round is the round that asked, 0 for the newest.
	Round int
	// Question is the fingerprint of its finding, "" where there is only one.
	Question string
	// Choice counts the question's choices from 1; 0 where Text is the answer.
	Choice int
	Text   string
}

// Answer records the user's answer. Once all questions of the round have one,
// the task goes on. The same answer again does nothing.
func (e *Engine) Answer(ctx context.Context, id string, req AnswerRequest) (Step, error) {
	// What is asked of the user is not for an agent to answer.
	if err := childenv.Inside(e.environ); err != nil {
		return Step{}, err
	}
	return e.step(ctx, id, task.Reply{Round: req.Round, Fingerprint: req.Question, Choice: req.Choice, Text: req.Text, By: e.by})
}
