package plugins

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// Catalog has plugins by name. It is immutable and safe for concurrent use; its zero value
// is empty.
type Catalog struct {
	plugins map[string]func() (*Plugin, error)
}

// NewCatalog returns the catalog of the built-in plugins. r compiles each on its first use.
func NewCatalog(r *Runtime) *Catalog {
	c := &Catalog{plugins: make(map[string]func() (*Plugin, error))}
	for _, name := range builtin.Names() {
		c.plugins[name] = sync.OnceValues(func() (*Plugin, error) { return r.builtIn(name) })
	}
	return c
}

// builtIn returns a built-in plugin with its embedded description, without compiling it.
func (r *Runtime) builtIn(name string) (*Plugin, error) {
	guest, _ := builtin.Find(name) // Its name is one of builtin.Names.
	d, err := decodeDescription(guest.Describe)
	if err != nil {
		return nil, err
	}
	p := &Plugin{runtime: r, code: &code{wasm: guest.Wasm}}
	p.describe(d)
	return p, nil
}

// With returns a catalog with one more plugin, under its own name.
//
// # Errors
//
// plugin-ambiguous if another plugin has that name.
func (c *Catalog) With(p *Plugin) (*Catalog, error) {
	name := p.identity.Name
	if _, taken := c.plugins[name]; taken {
		return nil, errs.New(errs.PluginAmbiguous, "two plugins are called %s", name).With("plugins", []string{name})
	}
	more := &Catalog{plugins: make(map[string]func() (*Plugin, error))}
	maps.Copy(more.plugins, c.plugins)
	more.plugins[name] = func() (*Plugin, error) { return p, nil }
	return more, nil
}

// Names lists the plugins by name, in byte order.
func (c *Catalog) Names() []string { return slices.Sorted(maps.Keys(c.plugins)) }

// Has reports whether a plugin has that name.
func (c *Catalog) Has(name string) bool {
	_, ok := c.plugins[name]
	return ok
}

// Is reports whether the catalog has p, or a plugin from the same bytes, under p's name.
func (c *Catalog) Is(p *Plugin) bool {
	known, err := c.Named(p.identity.Name)
	return err == nil && known.identity == p.identity
}

// Named returns the plugin of that name, or plugin-unknown.
func (c *Catalog) Named(name string) (*Plugin, error) {
	load, ok := c.plugins[name]
	if !ok {
		return nil, errs.New(errs.PluginUnknown, "no plugin is called %q", name).With("known", c.Names())
	}
	return load()
}

// Detect returns the one plugin that recognises a report.
//
// # Errors
//
// plugin-ambiguous if several plugins recognise it. Without one, the error of Source.Err if
// the report is invalid, else plugin-undetected. If ctx is done, its cause.
func (c *Catalog) Detect(ctx context.Context, source *document.Source) (*Plugin, error) {
	var match *Plugin
	var names []string
	for _, name := range c.Names() {
		p, err := c.Named(name)
		if err != nil {
			return nil, err
		}
		// A plugin cannot recognise a report in a format that it does not read.
		if doc, err := source.For(p.formats); err == nil && doc.Detects(ctx, p.description.Detect, p.description.DetectAny) {
			match, names = p, append(names, name)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	switch len(names) {
	case 1:
		return match, nil
	case 0:
		if err := source.Err(); err != nil {
			return nil, err
		}
		return nil, errs.New(errs.PluginUndetected, "no plugin recognises the report").With("known", c.Names())
	default:
		return nil, errs.New(errs.PluginAmbiguous, "several plugins recognise the report: %s", strings.Join(names, ", ")).With("plugins", names)
	}
}
