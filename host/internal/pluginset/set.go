// Package pluginset finds the plugins of a project, locks and lists them, and
// normalises reports with them.
package pluginset

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// Set has the plugins of a project. It is safe for concurrent use.
type Set struct {
	project project.Project
	config  plugins.Config

	mu       sync.Mutex
	runtimes map[project.Limits]*pluginRuntime // guarded by mu
}

// pluginRuntime runs plugins under the same limits.
type pluginRuntime struct {
	*plugins.Runtime
	builtin *plugins.Catalog
}

// New returns the plugins of a project. The limits of config are for what the project does not
// limit itself. The caller must Close it.
func New(p project.Project, config plugins.Config) *Set {
	return &Set{project: p, config: config, runtimes: make(map[project.Limits]*pluginRuntime)}
}

// Close releases the plugins, which must not be used afterwards.
func (s *Set) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.runtimes {
		errs = append(errs, r.Close(ctx))
	}
	return errors.Join(errs...)
}

// runtime returns the runtime for some limits. It is valid until Close.
func (s *Set) runtime(limits project.Limits) *pluginRuntime {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.runtimes[limits]
	if !ok {
		config := s.config
		config.Limits = plugins.Limits{
			Memory: cmp.Or(limits.Memory, config.Limits.Memory),
			Time:   cmp.Or(limits.Time, config.Limits.Time),
			Output: cmp.Or(limits.Output, config.Limits.Output),
		}
		runtime := plugins.New(config)
		r = &pluginRuntime{runtime, plugins.NewCatalog(runtime)}
		s.runtimes[limits] = r
	}
	return r
}

// Config reads the project's configuration for a request with these reports. Plugins that
// they name by file may also have settings.
func (s *Set) Config(ctx context.Context, refs ...api.ReportRef) (project.Config, error) {
	byName := func(r api.ReportRef) bool { return r.Plugin == api.Auto || abi.IsName(r.Plugin) }
	refs = slices.DeleteFunc(slices.Clone(refs), byName)
	if len(refs) == 0 {
		return s.project.Config(ctx, task.MaxRounds, builtin.Names()...)
	}
	config, err := s.UncheckedConfig(ctx)
	if err != nil {
		return config, err
	}
	resolver := s.Resolver(config)
	names := builtin.Names()
	for _, ref := range refs {
		files, err := s.project.Modules(ctx, ref.Plugin)
		if err != nil {
			return config, nil // Reading the report fails with this error.
		}
		for _, path := range files {
			p, err := resolver.file(ctx, path)
			if err != nil {
				return config, nil
			}
			names = append(names, p.Identity().Name)
		}
	}
	return s.project.Config(ctx, task.MaxRounds, names...)
}

// UncheckedConfig reads the project's configuration without checking plugin names:
// settings may belong to a plugin that another command loads by its file.
func (s *Set) UncheckedConfig(ctx context.Context) (project.Config, error) {
	return s.project.Config(ctx, task.MaxRounds)
}
