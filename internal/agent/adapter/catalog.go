package adapter

import (
	"embed"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

//go:embed adapters/*.json
var files embed.FS

const (
	folder = "adapters"
	suffix = ".json"
)

// Names lists the embedded adapters in byte order.
func Names() []string {
	names, _ := fs.Glob(files, folder+"/*"+suffix) // The pattern is valid.
	for i, name := range names {
		names[i] = strings.TrimSuffix(strings.TrimPrefix(name, folder+"/"), suffix)
	}
	return names
}

// Catalog has adapters by name. It is immutable.
type Catalog struct{ overrides map[string]*Adapter }

// NewCatalog returns the embedded adapters and overrides, which replace adapters of the
// same name.
func NewCatalog(overrides ...*Adapter) *Catalog {
	c := &Catalog{overrides: make(map[string]*Adapter, len(overrides))}
	for _, a := range overrides {
		c.overrides[a.spec.Name] = a
	}
	return c
}

func (c *Catalog) Names() []string {
	names := append(Names(), slices.Collect(maps.Keys(c.overrides))...)
	slices.Sort(names)
	return slices.Compact(names)
}

// Get returns the adapter with a name.
//
// # Errors
//
// adapter-unknown.
func (c *Catalog) Get(name string) (*Adapter, error) {
	if a, ok := c.overrides[name]; ok {
		return a, nil
	}
	data, err := files.ReadFile(folder + "/" + name + suffix)
	if err != nil {
		known := c.Names()
		return nil, errs.New(errs.AdapterUnknown, "there is no adapter %q, only %s", name, strings.Join(known, ", ")).
			With("adapter", name).With("known", known)
	}
	return Parse(data)
}
