package pluginset

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// List returns the plugins that the project can use by name, each with its problem if it
// has one.
func (s *Set) List(ctx context.Context) (api.PluginInventory, error) {
	r, err := s.newResolver(ctx)
	if err != nil {
		return api.PluginInventory{}, err
	}
	l := listing{Resolver: r, catalog: r.builtin, paths: make(map[string]string), problems: make(map[string]error)}
	l.OK = true
	for _, path := range r.config.PluginPaths {
		files, err := r.modules(ctx, path)
		if err != nil {
			l.file(ctx, r.project.AtRoot().Abs(path), err)
		}
		for _, file := range files {
			l.file(ctx, file, nil)
		}
	}
	for _, name := range l.catalog.Names() {
		if err := l.plugin(name, name, ""); err != nil {
			return api.PluginInventory{}, err
		}
	}
	for name, entry := range r.config.Plugins {
		if entry.Use == "" {
			continue
		}
		if err := l.plugin(name, entry.Use, entry.Use); err != nil {
			l.broken(name, "", entry.Use, cmp.Or(l.problems[entry.Use], err))
		}
	}
	slices.SortFunc(l.Plugins, func(a, b api.InstalledPlugin) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path))
	})
	return l.PluginInventory, context.Cause(ctx)
}

type listing struct {
	*Resolver
	api.PluginInventory
	catalog  *plugins.Catalog
	paths    map[string]string // of the project's plugins, relative to the root, by name
	problems map[string]error  // of the project's plugins, by the name in the lock
}

// file adds a file of the project to the catalog, or lists its problem. err is an earlier
// error of the file, or nil.
func (l *listing) file(ctx context.Context, file string, err error) {
	if err == nil {
		err = l.checkLocked(ctx, file)
	}
	if err == nil {
		l.catalog, err = l.addFile(ctx, l.catalog, file)
	}
	rel, pin, _, _ := l.pin(ctx, file) // An unreadable lock has no names.
	if err != nil {
		l.broken(pin.Name, rel, "", err)
		l.problems[pin.Name] = err
		return
	}
	l.paths[l.files[file].Identity().Name] = rel
}

func (l *listing) plugin(name, of, use string) error {
	p, err := l.catalog.Named(of)
	if err != nil {
		return err
	}
	d := p.Description()
	if use != "" {
		d.Name, d.Critic = name, name
	}
	l.Plugins = append(l.Plugins, api.InstalledPlugin{Description: d, Digest: p.Identity().Digest, Path: l.paths[of], Use: use})
	return nil
}

func (l *listing) broken(name, path, use string, err error) {
	l.OK = false
	message, subject := err.Error(), cmp.Or(path, name)
	if !strings.Contains(message, subject) {
		message = subject + ": " + message
	}
	l.Plugins = append(l.Plugins, api.InstalledPlugin{
		Description: plugins.Description{Name: name}, Path: path, Use: use,
		Problem: &api.PluginProblem{Code: errs.CodeOf(err), Message: message},
	})
}

// Inspect examines a plugin, named by name or file, and asks it to describe itself, unless
// switchyard.lock pins another digest.
//
// # Errors
//
// If there is a file, the part of it that could be read is returned with the error.
func (s *Set) Inspect(ctx context.Context, ref string) (api.PluginInspection, error) {
	r, err := s.newResolver(ctx)
	if err != nil {
		return api.PluginInspection{}, err
	}
	limits := r.runtime.Limits()
	in := api.PluginInspection{Limits: api.PluginLimits{
		Memory: limits.Memory, TimeMS: limits.Time.Milliseconds(), Output: limits.Output, Report: r.reportLimits().Bytes,
	}}
	wasm, err := r.module(ctx, ref)
	if wasm == nil {
		return in, err
	}
	in.Inspection = plugins.Survey(wasm)
	if err != nil {
		return in, err
	}
	p, err := r.runtime.Load(ctx, wasm)
	if err != nil {
		if !abi.IsName(ref) {
			err = withPath(err, ref)
		}
		return in, err
	}
	d := p.Description()
	in.Description = &d
	return in, nil
}

// Module returns the module of a plugin, by its name or its file.
func (s *Set) Module(ctx context.Context, ref string) (api.PluginModule, error) {
	r, err := s.newResolver(ctx)
	if err != nil {
		return api.PluginModule{}, err
	}
	wasm, err := r.module(ctx, ref)
	return api.PluginModule{Wasm: wasm, Limits: r.runtime.Limits()}, err
}
