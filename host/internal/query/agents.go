package query

import (
	"context"

	"github.com/switchyard-dev/switchyard/host/internal/agents"
	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// AdapterNames lists the adapters that the project can use.
func (q *Reader) AdapterNames(ctx context.Context) ([]string, error) {
	config, err := q.project.Config(ctx)
	if err != nil {
		return nil, err
	}
	catalog, err := agents.Catalog(ctx, q.project, config)
	if err != nil {
		return nil, err
	}
	return catalog.Names(), nil
}

// Installed lists the built-in adapters whose programs are installed.
func (q *Reader) Installed() []string {
	installed := []string{}
	catalog := adapter.NewCatalog()
	for _, name := range catalog.Names() {
		if name == project.AdapterExec {
			continue // The user names its program.
		}
		a, err := catalog.Get(name)
		if err == nil {
			_, err = a.Binary(q.project.Environ, q.project.Root, nil)
		}
		if err == nil {
			installed = append(installed, name)
		}
	}
	return installed
}

// AgentNames lists the agents that Spawn can run.
func (q *Reader) AgentNames() []string {
	var names []string
	for _, listed := range (definition.Library{Root: q.project.Root}).List() {
		if listed.Err == nil && listed.Definition.Spawnable(profile.Report) == nil {
			names = append(names, listed.Name)
		}
	}
	return names
}
