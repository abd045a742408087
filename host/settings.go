package host

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// Config returns the project's configuration as it is now. The engine reads it
// anew for every request, so that this is for showing it and for what a caller
// has to decide itself.
//
// # Errors
//
// Those of project.Project.Config.
func (e *Engine) Config(ctx context.Context) (project.Config, error) {
	return e.project.Config(ctx, task.MaxRounds, builtin.Names()...)
}

// UncheckedConfig is Config without a check of the plugins' names. A plugin that a
// command got by its file may have settings, whose name other work cannot know.
func (e *Engine) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return e.project.Config(ctx, task.MaxRounds)
}

// configFor is Config for a request with these reports: plugins that they name by
// their files may be configured too.
func (e *Engine) configFor(ctx context.Context, refs []ReportRef) (project.Config, error) {
	byName := func(r ReportRef) bool { return r.Plugin == Auto || abi.IsName(r.Plugin) }
	refs = slices.DeleteFunc(slices.Clone(refs), byName)
	if len(refs) == 0 {
		return e.Config(ctx)
	}
	config, err := e.UncheckedConfig(ctx)
	if err != nil {
		return config, err
	}
	shelf := e.newShelf(config)
	names := builtin.Names()
	for _, ref := range refs {
		files, err := e.project.Modules(ctx, ref.Plugin)
		if err != nil {
			return config, nil // Reading its report will say so.
		}
		for _, path := range files {
			p, err := shelf.file(ctx, path)
			if err != nil {
				return config, nil
			}
			names = append(names, p.Identity().Name)
		}
	}
	return e.project.Config(ctx, task.MaxRounds, names...)
}
