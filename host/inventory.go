package host

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Inventory is what a project can use by name.
type Inventory struct {
	// OK says that none of the plugins has a problem.
	OK bool `json:"ok"`
	// Plugins are the built-in plugins, those that the project brings along, and the
	// configurations that have names of their own, by name.
	Plugins []Installed `json:"plugins"`
}

// Installed is a plugin that a project can use by name.
type Installed struct {
	// Description is empty but for the name if the plugin has a problem, and so is
	// Digest.
	plugins.Description
	// Digest is that of its module.
	Digest string `json:"digest"`
	// Path is that of its file relative to the project's root, "" if it is built in.
	Path string `json:"path"`
	// Use is the plugin that it is a configuration of, "" if it is a plugin.
	Use string `json:"use,omitzero"`
	// Problem says why it cannot be used, nil if it can.
	Problem *PluginProblem `json:"problem,omitzero"`
}

// PluginProblem says why a plugin cannot be used.
type PluginProblem struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
}

// Plugins lists what the project can use by name. What is wrong with one plugin stands
// with it.
func (e *Engine) Plugins(ctx context.Context) (Inventory, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Inventory{}, err
	}
	all := Inventory{OK: true}
	catalog := shelf.builtin
	paths, problems := make(map[string]string), make(map[string]error)
	for _, path := range shelf.config.PluginPaths {
		files, err := shelf.modules(ctx, path)
		if err != nil {
			files = []string{e.rooted().Abs(path)}
		}
		for _, file := range files {
			if err == nil {
				err = shelf.locked(ctx, file)
			}
			if err == nil {
				catalog, err = shelf.with(ctx, catalog, file)
			}
			rel, _ := e.project.Rel(file)
			if err != nil {
				name := shelf.pinnedName(ctx, rel)
				all.broken(plugins.Description{Name: name}, rel, "", err)
				problems[name] = err
			} else {
				paths[shelf.files[file].Identity().Name] = rel
			}
			err = nil
		}
	}
	for _, name := range catalog.Names() {
		p, err := catalog.Named(name)
		if err != nil {
			return Inventory{}, err
		}
		all.Plugins = append(all.Plugins, Installed{Description: p.Description(), Digest: p.Identity().Digest, Path: paths[name]})
	}
	for name, entry := range shelf.config.Plugins {
		if entry.Use == "" {
			continue
		}
		p, err := catalog.Named(entry.Use)
		if err != nil {
			all.broken(plugins.Description{Name: name}, "", entry.Use, cmp.Or(problems[entry.Use], err))
			continue
		}
		d := p.Description()
		d.Name, d.Critic = name, name
		all.Plugins = append(all.Plugins, Installed{Description: d, Digest: p.Identity().Digest, Path: paths[entry.Use], Use: entry.Use})
	}
	slices.SortFunc(all.Plugins, func(a, b Installed) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path))
	})
	return all, context.Cause(ctx)
}

// broken adds a plugin that cannot be used.
func (all *Inventory) broken(d plugins.Description, path, use string, err error) {
	all.OK = false
	all.Plugins = append(all.Plugins, Installed{
		Description: d, Path: path, Use: use, Problem: &PluginProblem{errs.CodeOf(err), err.Error()},
	})
}
