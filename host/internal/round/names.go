package round

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// AdapterNames lists the adapters that the project can name.
func (e *Engine) AdapterNames(ctx context.Context) ([]string, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return nil, err
	}
	catalog, err := e.catalog(ctx, config)
	if err != nil {
		return nil, err
	}
	return catalog.Names(), nil
}

// Installed lists the built-in adapters whose programs are installed.
func (e *Engine) Installed() []string {
	installed := []string{}
	catalog := adapter.NewCatalog()
	for _, name := range catalog.Names() {
		if name == project.AdapterExec {
			continue // It has no program of its own.
		}
		a, err := catalog.Get(name)
		if err == nil {
			_, err = a.Binary(e.environ, e.project.Root, nil)
		}
		if err == nil {
			installed = append(installed, name)
		}
	}
	return installed
}

// AgentNames lists the agents that the project can spawn.
func (e *Engine) AgentNames() []string {
	var names []string
	for _, listed := range (definition.Library{Root: e.project.Root}).List() {
		if unspawnable(listed.Err, listed.Definition) == nil && !listed.Definition.Module {
			names = append(names, listed.Name)
		}
	}
	return names
}
