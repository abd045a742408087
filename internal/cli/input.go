package cli

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// ReadInput reads a file that the user named, relative to a project's directory, or
// standard input.
func (p *Program) ReadInput(ctx context.Context, from project.Project, file string, limit int64) ([]byte, error) {
	if file == api.Stdin {
		return project.ReadAll(ctx, p.In, "standard input", limit)
	}
	return from.Read(ctx, file, limit)
}

// TaskText returns a task's text: the prompt, or the content of a file that read reads.
func TaskText(ctx context.Context, prompt, file string, read func(context.Context, string, int64) ([]byte, error)) (string, error) {
	name := "--prompt"
	if file != "" {
		data, err := read(ctx, file, task.MaxPrompt)
		if err != nil {
			return "", err
		}
		name, prompt = file, string(data)
	}
	return task.CleanPrompt(name, prompt)
}
