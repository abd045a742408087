package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/host/task"
)

// Config returns the project's configuration as it is now. The engine reads it
// anew for every request, so that this is for showing it and for what a caller
// has to decide itself.
//
// # Errors
//
// Those of project.Project.Config.
func (e *Engine) Config(ctx context.Context) (project.Config, error) {
	return e.project.Config(ctx, task.MaxRounds)
}
