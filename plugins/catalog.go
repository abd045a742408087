package plugins

import (
	"strings"
	"sync"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/report"
)

// Catalog knows the built-in plugins by name. It compiles none before it is
// used, and is safe for concurrent use.
type Catalog struct {
	runtime *Runtime

	mu     sync.Mutex
	loaded map[string]*Plugin
}

// NewCatalog returns the catalog of the built-in plugins, to be run by r.
func NewCatalog(r *Runtime) *Catalog {
	return &Catalog{runtime: r, loaded: make(map[string]*Plugin)}
}

// Named returns the plugin of that name, or CodeUnknown.
func (c *Catalog) Named(name string) (*Plugin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.loaded[name]; ok {
		return p, nil
	}
	if !IsName(name) {
		return nil, unknown(name)
	}
	guest, ok := builtin.Find(name)
	if !ok {
		return nil, unknown(name)
	}
	d, err := decodeDescription(guest.Describe)
	if err != nil {
		return nil, err
	}
	p := &Plugin{runtime: c.runtime, wasm: guest.Wasm}
	p.describe(d)
	c.loaded[name] = p
	return p, nil
}

// Detect returns the one plugin that recognises a report, or CodeUndetected or
// CodeAmbiguous.
func (c *Catalog) Detect(doc *report.Document) (*Plugin, error) {
	var matches []*Plugin
	var names []string
	for _, name := range builtin.Names() {
		p, err := c.Named(name)
		if err != nil {
			return nil, err
		}
		if doc.Detects(p.description.Detect) {
			matches, names = append(matches, p), append(names, name)
		}
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return nil, fault.New(CodeUndetected, "no plugin recognises the report").With("known", builtin.Names())
	default:
		return nil, fault.New(CodeAmbiguous, "several plugins recognise the report: %s", strings.Join(names, ", ")).With("plugins", names)
	}
}

func unknown(name string) error {
	return fault.New(CodeUnknown, "no plugin is called %q", name).With("known", builtin.Names())
}
