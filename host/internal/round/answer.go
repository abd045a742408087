package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// Answer records the user's answer. Once all questions of the round have one,
// the task goes on. The same answer again does nothing.
func (e *Engine) Answer(ctx context.Context, id string, req api.AnswerRequest) (api.TaskResult, error) {
	// What is asked of the user is not for an agent to answer.
	if err := childenv.Inside(e.environ); err != nil {
		return api.TaskResult{}, err
	}
	return e.apply(ctx, id, task.AnswerQuestion{Round: req.Round, Fingerprint: req.Question, Choice: req.Choice, Text: req.Text, By: e.by})
}
