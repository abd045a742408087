// Package round runs the rounds of a project's tasks, with their verification, critic,
// decision and researchers, and implements the other commands that change tasks.
package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// Engine runs rounds and the other commands on tasks. It is safe for concurrent use.
type Engine struct{ project *core.Project }

// New returns an Engine that works on p, which the caller closes after it.
func New(p *core.Project) *Engine { return &Engine{p} }

// commandConfig returns the configuration for a command that changes a task. It refuses
// a command that an agent runs.
func (e *Engine) commandConfig(ctx context.Context) (project.Config, error) {
	if err := e.project.Inside(); err != nil {
		return project.Config{}, err
	}
	return e.project.Config(ctx)
}
