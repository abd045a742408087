package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Run drives a task from its text to a commit, or continues it where it was.
func (e *Engine) Run(ctx context.Context, id string, req api.RunRequest) (api.RunResult, error) {
	return api.RunResult{}, errs.New(errs.Internal, "not built yet")
}
