package host

import (
	"context"
	"maps"
	"slices"

	"github.com/switchyard-dev/switchyard/plugins"
)

// Inventory is what a project can use by name.
type Inventory struct {
	// Plugins are the built-in plugins and those that the project brings along,
	// by name.
	Plugins []Installed `json:"plugins"`
	// UnknownSettings are the names that the project configures and that none of
	// these plugins has, in byte order.
	UnknownSettings []string `json:"unknown_settings"`
}

// Installed is a plugin that a project can use by name.
type Installed struct {
	plugins.Description
	// Digest is that of its module.
	Digest string `json:"digest"`
	// Path is that of its file relative to the project's root, "" where it is
	// built in.
	Path string `json:"path"`
}

// Plugins lists what the project can use by name.
func (e *Engine) Plugins(ctx context.Context) (Inventory, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Inventory{}, err
	}
	catalog, err := shelf.catalog(ctx)
	if err != nil {
		return Inventory{}, err
	}
	paths := make(map[*plugins.Plugin]string)
	for path, p := range shelf.files {
		paths[p], _ = e.project.Rel(path)
	}
	var all Inventory
	for _, name := range catalog.Names() {
		p, err := catalog.Named(name)
		if err != nil {
			return Inventory{}, err
		}
		all.Plugins = append(all.Plugins, Installed{p.Description(), p.Identity().Digest, paths[p]})
	}
	for _, name := range slices.Sorted(maps.Keys(shelf.config.Plugins)) {
		if !catalog.Has(name) {
			all.UnknownSettings = append(all.UnknownSettings, name)
		}
	}
	return all, nil
}
