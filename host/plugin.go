package host

import (
	"context"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/report"
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

// Inspected is a plugin's file, looked at from outside.
type Inspected struct {
	plugins.Inspection
	// Limits are those that it runs under, and ReportLimit is the largest report
	// that it is given, in bytes.
	Limits      plugins.Limits
	ReportLimit int64
}

// Inspect looks at the plugin of a name or a file and asks it to describe itself,
// unless switchyard.lock pins another file.
//
// # Errors
//
// Where there is a file, what could be read of it is returned with the error.
func (e *Engine) Inspect(ctx context.Context, ref string) (Inspected, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Inspected{}, err
	}
	in := Inspected{
		Limits:      shelf.runtime.Limits(),
		ReportLimit: report.Limits{Bytes: shelf.config.Limits.Report}.WithDefaults().Bytes,
	}
	wasm, err := shelf.module(ctx, ref)
	if wasm == nil {
		return in, err
	}
	if err != nil {
		in.Inspection = plugins.Survey(wasm)
		return in, err
	}
	in.Inspection, err = shelf.runtime.Inspect(ctx, wasm)
	if err != nil && !plugins.IsName(ref) {
		err = at(err, ref)
	}
	return in, err
}

// Module is a plugin's module, which need not be one that works.
type Module struct {
	// Wasm is the file. Do not modify it.
	Wasm []byte
	// Limits are those that the plugin runs under.
	Limits plugins.Limits
}

// Module returns the module of a plugin, by its name or its file.
func (e *Engine) Module(ctx context.Context, ref string) (Module, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Module{}, err
	}
	wasm, err := shelf.module(ctx, ref)
	if err != nil {
		return Module{}, err
	}
	return Module{wasm, shelf.runtime.Limits()}, nil
}

// Normalized is a report as a plugin understood it, before anything is merged.
type Normalized struct {
	Plugin plugins.Identity
	// Report is the digest of the report as it was read.
	Report string
	plugins.Result
}

// Normalize runs one plugin over one report, and keeps nothing.
func (e *Engine) Normalize(ctx context.Context, ref ReportRef, stdin io.Reader) (Normalized, error) {
	config, err := e.project.Config(ctx, task.MaxRounds)
	if err != nil {
		return Normalized{}, err
	}
	all, err := e.gather(ctx, []ReportRef{ref}, stdin, config)
	if err != nil {
		return Normalized{}, err
	}
	return Normalized{Plugin: all[0].plugin, Report: all[0].digest, Result: all[0].result}, nil
}

// Prepared is all that a plugin needs to normalise a report.
type Prepared struct {
	// Report is the digest of the report as it was read.
	Report   string
	Plugin   *plugins.Plugin
	Document *report.Document
	// Config is what the project configures for the plugin, nil for nothing.
	Config jsontext.Value
	// Limits are those that the plugin runs under.
	Limits plugins.Limits
}

// Prepare finds a report's plugin, and runs no more of it than loading needs.
func (e *Engine) Prepare(ctx context.Context, ref ReportRef, stdin io.Reader) (Prepared, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Prepared{}, err
	}
	ready, err := e.prepare(ctx, ref, stdin, shelf)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		err = f.With("report", ref.Path)
	}
	return ready, err
}

func (e *Engine) prepare(ctx context.Context, ref ReportRef, stdin io.Reader, shelf *shelf) (Prepared, error) {
	source, err := e.source(ctx, ref.Path, stdin, shelf.config.Limits.Report)
	if err != nil {
		return Prepared{}, err
	}
	plugin, err := shelf.choose(ctx, ref.Plugin, source)
	if err != nil {
		return Prepared{}, err
	}
	doc, err := plugin.Document(source)
	if err != nil {
		return Prepared{}, err
	}
	return Prepared{
		Report: source.Digest(), Plugin: plugin, Document: doc,
		Config: shelf.config.Plugins[plugin.Identity().Name], Limits: shelf.runtime.Limits(),
	}, nil
}

// Locked is what LockPlugins has done.
type Locked struct {
	// Pins are those of the new lock, by path, and Before those of the old one.
	Pins, Before []project.Pin
	// Unreadable says why the old lock is not known, nil where it is.
	Unreadable error
}

// LockPlugins pins the plugins that the project brings along as they are now. An
// old lock that cannot be read is replaced like any other.
func (e *Engine) LockPlugins(ctx context.Context) (Locked, error) {
	shelf, err := e.shelf(ctx)
	if err != nil {
		return Locked{}, err
	}
	shelf.lock = &project.Lock{} // What was pinned so far does not matter.
	files, err := shelf.configured(ctx)
	if err != nil {
		return Locked{}, err
	}
	if len(files) == 0 {
		return Locked{}, fault.New(CodeNothingToLock, "%s names no plugin_paths", project.ConfigFile)
	}
	if _, err := shelf.add(ctx, shelf.builtin, files); err != nil {
		return Locked{}, err
	}
	before, unreadable := e.project.Lock(ctx)
	if ctx.Err() != nil {
		return Locked{}, context.Cause(ctx)
	}
	now := project.Lock{}
	for path, p := range shelf.files {
		rel, _ := e.project.Rel(path)
		id := p.Identity()
		now.Plugins = append(now.Plugins, project.Pin{Path: rel, Name: id.Name, Version: id.Version, Digest: id.Digest})
	}
	slices.SortFunc(now.Plugins, func(a, b project.Pin) int { return strings.Compare(a.Path, b.Path) })
	return Locked{Pins: now.Plugins, Before: before.Plugins, Unreadable: unreadable}, e.project.WriteLock(now)
}

func (e *Engine) shelf(ctx context.Context) (*shelf, error) {
	config, err := e.project.Config(ctx, task.MaxRounds)
	if err != nil {
		return nil, err
	}
	return e.newShelf(config), nil
}

// rooted is the project as its own files speak of it: from its root.
func (e *Engine) rooted() project.Project {
	return project.Project{Root: e.project.Root, Dir: e.project.Root}
}

// at says in an error's details which plugin file it is about.
func at(err error, path string) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.With("path", filepath.ToSlash(path))
	}
	return err
}
