package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
)

// maxPlugin is the largest plugin module, in bytes.
const maxPlugin = 8 << 20

// shelf is the plugins that one request can take: the built-in ones, those that
// the project brings along, and those whose path the user gives. It reads no
// file before it has to, and each only once. It serves one goroutine.
type shelf struct {
	*stock
	engine *Engine
	config project.Config

	lock      *project.Lock              // nil until it has been read
	files     map[string]*plugins.Plugin // by path
	installed *plugins.Catalog           // built-in and the project's; nil until it is needed
}

func (e *Engine) newShelf(config project.Config) *shelf {
	return &shelf{stock: e.stock(config.Limits), engine: e, config: config, files: make(map[string]*plugins.Plugin)}
}

// shelf is newShelf with the project's configuration as it is now.
func (e *Engine) shelf(ctx context.Context) (*shelf, error) {
	config, err := e.Config(ctx)
	if err != nil {
		return nil, err
	}
	return e.newShelf(config), nil
}

// choose returns the plugin for a report. ref is a name, the path of a file or of
// a folder, or Auto; a folder's plugins compete with the installed ones for the
// reports that they recognise.
func (s *shelf) choose(ctx context.Context, ref string, source *document.Source) (*plugins.Plugin, error) {
	switch {
	case ref == Auto:
		catalog, err := s.catalog(ctx)
		if err != nil {
			return nil, err
		}
		return catalog.Detect(ctx, source)
	case abi.IsName(ref):
		return s.named(ctx, ref)
	}
	files, err := s.engine.project.Modules(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(files) == 1 && files[0] == ref {
		return s.file(ctx, ref)
	}
	catalog, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	if catalog, err = s.add(ctx, catalog, files); err != nil {
		return nil, err
	}
	return catalog.Detect(ctx, source)
}

// named returns an installed plugin by its name, or by that of a configuration of it.
func (s *shelf) named(ctx context.Context, name string) (*plugins.Plugin, error) {
	use := s.config.Plugins[name].Use
	if use == "" {
		return s.plugin(ctx, name)
	}
	p, err := s.plugin(ctx, use)
	if err != nil {
		return nil, err
	}
	return p.As(name), nil
}

// plugin returns an installed plugin. A built-in one needs no file.
func (s *shelf) plugin(ctx context.Context, name string) (*plugins.Plugin, error) {
	if s.builtin.Has(name) {
		return s.builtin.Named(name)
	}
	catalog, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	p, err := catalog.Named(name)
	if f, ok := errors.AsType[*errs.Error](err); ok && s.engine.project.Exists(name) {
		err = f.WithHint(fmt.Sprintf("%[1]s without a slash is the name of a plugin; if you mean the file, write ./%[1]s", name))
	}
	return p, err
}

// module returns the module of a plugin, by its name or its file, as read does.
func (s *shelf) module(ctx context.Context, ref string) ([]byte, error) {
	if abi.IsName(ref) {
		p, err := s.named(ctx, ref)
		if err != nil {
			return nil, err
		}
		return p.Module(), nil
	}
	return s.read(ctx, ref)
}

// read returns a plugin's file. Where the lock pins another one, the file comes
// with the error.
func (s *shelf) read(ctx context.Context, path string) ([]byte, error) {
	wasm, err := s.engine.project.Read(ctx, path, maxPlugin)
	if err != nil {
		return nil, err
	}
	return wasm, s.pinned(ctx, path, plugins.Digest(wasm))
}

// catalog returns the installed plugins.
func (s *shelf) catalog(ctx context.Context) (*plugins.Catalog, error) {
	if s.installed != nil {
		return s.installed, nil
	}
	files, err := s.configured(ctx)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if err := s.locked(ctx, path); err != nil {
			return nil, err
		}
	}
	s.installed, err = s.add(ctx, s.builtin, files)
	return s.installed, err
}

// configured lists the plugin files that the project brings along.
func (s *shelf) configured(ctx context.Context) ([]string, error) {
	var files []string
	for _, path := range s.config.PluginPaths {
		modules, err := s.modules(ctx, path)
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
func (s *shelf) modules(ctx context.Context, path string) ([]string, error) {
	root := s.engine.rooted()
	files, err := root.Modules(ctx, path)
	if f, ok := errors.AsType[*errs.Error](err); ok {
		return nil, f.WithHint(project.ConfigFile + " names it under plugin_paths: build the plugin, or correct the path")
	}
	for i, file := range files {
		files[i] = root.Abs(file)
	}
	return files, err
}

// add returns a catalog with the plugins of these files.
func (s *shelf) add(ctx context.Context, catalog *plugins.Catalog, files []string) (*plugins.Catalog, error) {
	for _, path := range files {
		var err error
		if catalog, err = s.with(ctx, catalog, path); err != nil {
			return nil, err
		}
	}
	return catalog, nil
}

// with returns a catalog with the plugin of a file, or as it was if that has an error.
func (s *shelf) with(ctx context.Context, catalog *plugins.Catalog, path string) (*plugins.Catalog, error) {
	p, err := s.file(ctx, path)
	if err != nil || catalog.Is(p) { // Two paths may lead to it.
		return catalog, err
	}
	more, err := catalog.With(p)
	if err != nil {
		return catalog, at(err, path)
	}
	return more, nil
}

// file loads a plugin from its file, if the lock lets it.
func (s *shelf) file(ctx context.Context, path string) (*plugins.Plugin, error) {
	if p, ok := s.files[path]; ok {
		return p, nil
	}
	wasm, err := s.read(ctx, path)
	if err != nil {
		return nil, err
	}
	p, err := s.runtime.Load(ctx, wasm)
	if err != nil {
		return nil, at(err, path)
	}
	s.files[path] = p
	return p, nil
}

// locked fails where the project brings a file along that its lock does not pin.
func (s *shelf) locked(ctx context.Context, path string) error {
	lock, err := s.pins(ctx)
	if err != nil {
		return err
	}
	rel, _ := s.engine.project.Rel(path)
	if _, ok := lock.Find(rel); !ok {
		return errs.New(errs.PluginNotLocked, "%s is not in %s", rel, project.LockFile).With("path", rel)
	}
	return nil
}

// pinned fails where the lock pins another file than this one. A file that it
// does not know is the user's own word.
func (s *shelf) pinned(ctx context.Context, path, digest string) error {
	lock, err := s.pins(ctx)
	if err != nil {
		return err
	}
	rel, inside := s.engine.project.Rel(path)
	pin, ok := lock.Find(rel)
	if inside && ok && pin.Digest != digest {
		return errs.New(errs.PluginDigestMismatch, "%s is not the plugin that %s pins", rel, project.LockFile).
			With("path", rel).With("expected", pin.Digest).With("actual", digest)
	}
	return nil
}

// pinnedName is the name that the lock gives the plugin of a file, "" if it has none.
func (s *shelf) pinnedName(ctx context.Context, rel string) string {
	lock, _ := s.pins(ctx) // That it cannot be read was told before.
	pin, _ := lock.Find(rel)
	return pin.Name
}

func (s *shelf) pins(ctx context.Context) (project.Lock, error) {
	if s.lock == nil {
		lock, err := s.engine.project.Lock(ctx)
		if err != nil {
			return project.Lock{}, err
		}
		s.lock = &lock
	}
	return *s.lock, nil
}

// rooted is the project as its own files speak of it: from its root.
func (e *Engine) rooted() project.Project {
	return project.Project{Root: e.project.Root, Dir: e.project.Root}
}

// at says in an error's details which plugin file it is about.
func at(err error, path string) error {
	if f, ok := errors.AsType[*errs.Error](err); ok {
		return f.With("path", filepath.ToSlash(path))
	}
	return err
}
