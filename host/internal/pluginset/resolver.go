package pluginset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

const maxPlugin = 8 << 20 // bytes

// Resolver finds the plugins of one request: built-in ones, the project's, and the ones that
// the user names by path. It reads files only if needed, and each once. It is not safe for
// concurrent use.
type Resolver struct {
	runtime *plugins.Runtime
	builtin *plugins.Catalog
	project project.Project
	config  project.Config
	// tree is the working tree that absolute paths in reports are relative to.
	tree string

	lock      *project.Lock              // nil until read
	files     map[string]*plugins.Plugin // by path
	installed *plugins.Catalog           // built-in and the project's; nil until needed
}

// Resolver returns a resolver for a configuration.
func (s *Set) Resolver(config project.Config) *Resolver {
	shared := s.runtime(config.Limits)
	return &Resolver{
		runtime: shared.Runtime, builtin: shared.builtin, project: s.project, config: config, tree: s.project.Root, files: make(map[string]*plugins.Plugin),
	}
}

// In sets the working tree that the reports are about, if it is not the project's root.
func (r *Resolver) In(tree string) *Resolver {
	r.tree = tree
	return r
}

// newResolver is Resolver with the project's current configuration.
func (s *Set) newResolver(ctx context.Context) (*Resolver, error) {
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	return s.Resolver(config), nil
}

// CheckSettings makes each configured plugin read its settings, so that a mistake shows
// before the plugin is needed. A plugin reads its settings before the report, so the check
// passes a report that every plugin rejects.
//
// The project's own plugins are checked only if all is true: a project with broken plugins
// can still use the others.
func (r *Resolver) CheckSettings(ctx context.Context, all bool) error {
	null, err := document.Parse([]byte("null"), document.Limits{})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.config.Plugins)) {
		entry := r.config.Plugins[name]
		if !all && !r.builtin.Has(cmp.Or(entry.Use, name)) {
			continue
		}
		p, err := r.byName(ctx, name)
		if err == nil { // The code that needs the plugin reports loading errors.
			_, err = p.Normalize(ctx, null, entry.Settings)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if f, ok := errors.AsType[*errs.Error](err); ok && f.Code == errs.PluginConfigInvalid {
			f.Message = fmt.Sprintf("%s: plugins.%s: %s", project.ConfigFile, name, f.Message)
			return f
		}
	}
	return nil
}

// choose returns the plugin for a report. ref is a name, the path of a file or directory, or
// Auto. The plugins of a directory compete with the installed ones for the reports that they
// recognise.
func (r *Resolver) choose(ctx context.Context, ref string, source *document.Source) (*plugins.Plugin, error) {
	var files []string
	if ref != api.Auto {
		if abi.IsName(ref) {
			return r.byName(ctx, ref)
		}
		var err error
		if files, err = r.project.Modules(ctx, ref); err != nil {
			return nil, err
		}
		if len(files) == 1 && files[0] == ref {
			return r.file(ctx, ref)
		}
	}
	catalog, err := r.catalog(ctx)
	if err != nil {
		return nil, err
	}
	if catalog, err = r.add(ctx, catalog, files); err != nil {
		return nil, err
	}
	return catalog.Detect(ctx, source)
}

// byName returns an installed plugin by its name or that of a configuration of it.
func (r *Resolver) byName(ctx context.Context, name string) (*plugins.Plugin, error) {
	use := r.config.Plugins[name].Use
	p, err := r.plugin(ctx, cmp.Or(use, name))
	if err != nil || use == "" {
		return p, err
	}
	return p.As(name), nil
}

// plugin returns an installed plugin. A built-in one needs no file.
func (r *Resolver) plugin(ctx context.Context, name string) (*plugins.Plugin, error) {
	if r.builtin.Has(name) {
		return r.builtin.Named(name)
	}
	catalog, err := r.catalog(ctx)
	if err != nil {
		return nil, err
	}
	p, err := catalog.Named(name)
	if f, ok := errors.AsType[*errs.Error](err); ok && r.project.Exists(name) {
		err = f.WithHint(fmt.Sprintf("%[1]s without a slash is the name of a plugin; if you mean the file, write ./%[1]s", name))
	}
	return p, err
}

// module returns the module of a plugin, by its name or its file, as read does.
func (r *Resolver) module(ctx context.Context, ref string) ([]byte, error) {
	if !abi.IsName(ref) {
		return r.read(ctx, ref)
	}
	p, err := r.byName(ctx, ref)
	if err != nil {
		return nil, err
	}
	return p.Module(), nil
}

// read returns a plugin's file. If the lock pins another digest, the file comes with
// the error.
func (r *Resolver) read(ctx context.Context, path string) ([]byte, error) {
	wasm, err := r.project.Read(ctx, path, maxPlugin)
	if err != nil {
		return nil, err
	}
	return wasm, r.checkPin(ctx, path, digest.Of(wasm))
}

func (r *Resolver) catalog(ctx context.Context) (*plugins.Catalog, error) {
	if r.installed != nil {
		return r.installed, nil
	}
	files, err := r.projectFiles(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if err := r.checkLocked(ctx, path); err != nil {
			return nil, err
		}
	}
	r.installed, err = r.add(ctx, r.builtin, files)
	return r.installed, err
}

func (r *Resolver) projectFiles(ctx context.Context) ([]string, error) {
	var files []string
	for _, path := range r.config.PluginPaths {
		modules, err := r.modules(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			if !slices.Contains(files, m) {
				files = append(files, m)
			}
		}
	}
	return files, nil
}

// modules lists the plugin files of one of plugin_paths.
func (r *Resolver) modules(ctx context.Context, path string) ([]string, error) {
	root := r.project.AtRoot()
	files, err := root.Modules(ctx, path)
	if f, ok := errors.AsType[*errs.Error](err); ok {
		return nil, f.WithHint(project.ConfigFile + " names it under plugin_paths: build the plugin, or correct the path")
	}
	for i, file := range files {
		files[i] = root.Abs(file)
	}
	return files, err
}

func (r *Resolver) add(ctx context.Context, catalog *plugins.Catalog, files []string) (*plugins.Catalog, error) {
	for _, path := range files {
		var err error
		if catalog, err = r.addFile(ctx, catalog, path); err != nil {
			return nil, err
		}
	}
	return catalog, nil
}

// addFile returns a catalog with the plugin of a file, or the same one with the error.
func (r *Resolver) addFile(ctx context.Context, catalog *plugins.Catalog, path string) (*plugins.Catalog, error) {
	p, err := r.file(ctx, path)
	if err != nil || catalog.Is(p) { // Two paths may name the same file.
		return catalog, err
	}
	more, err := catalog.With(p)
	if err != nil {
		return catalog, withPath(r.sameName(p, path, err), path)
	}
	return more, nil
}

// sameName returns the error of a plugin that has another's name, with the files of both.
func (r *Resolver) sameName(p *plugins.Plugin, path string, err error) error {
	f, ok := errors.AsType[*errs.Error](err)
	for _, other := range slices.Sorted(maps.Keys(r.files)) {
		if ok && other != path && r.files[other].Identity().Name == p.Identity().Name {
			first, _ := r.project.Rel(other)
			second, _ := r.project.Rel(path)
			f.Message = fmt.Sprintf("%s: %s and %s", f.Message, first, second)
			return f.WithHint("remove one of the two, or have it describe itself with another name")
		}
	}
	return err
}

// file loads a plugin from its file, unless the lock pins another digest.
func (r *Resolver) file(ctx context.Context, path string) (*plugins.Plugin, error) {
	if p, ok := r.files[path]; ok {
		return p, nil
	}
	wasm, err := r.read(ctx, path)
	if err != nil {
		return nil, err
	}
	p, err := r.runtime.Load(ctx, wasm)
	if err != nil {
		return nil, withPath(err, path)
	}
	r.files[path] = p
	return p, nil
}

// checkLocked fails if the lock does not pin a file of the project.
func (r *Resolver) checkLocked(ctx context.Context, path string) error {
	rel, _, pinned, err := r.pin(ctx, path)
	if err != nil || pinned {
		return err
	}
	return errs.New(errs.PluginNotLocked, "%s is not in %s", rel, project.LockFile).With("path", rel)
}

// checkPin fails if the lock pins another digest for a file. It accepts a file that is not
// in the lock, since the user named it.
func (r *Resolver) checkPin(ctx context.Context, path, sum string) error {
	rel, pin, pinned, err := r.pin(ctx, path)
	if err != nil || !pinned || pin.Digest == sum {
		return err
	}
	return errs.New(errs.PluginDigestMismatch, "%s is not the plugin that %s pins", rel, project.LockFile).
		With("path", rel).With("expected", pin.Digest).With("actual", sum)
}

// pin finds a file in the lock, by its path relative to the root.
func (r *Resolver) pin(ctx context.Context, path string) (rel string, pin project.Pin, pinned bool, err error) {
	rel, inside := r.project.Rel(path)
	if r.lock == nil {
		lock, err := r.project.Lock(ctx)
		if err != nil {
			return rel, pin, false, err
		}
		r.lock = &lock
	}
	if inside {
		pin, pinned = r.lock.Find(rel)
	}
	return rel, pin, pinned, nil
}

func withPath(err error, path string) error { return errs.With(err, "path", filepath.ToSlash(path)) }
