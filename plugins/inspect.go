package plugins

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// Inspection is what can be told of a plugin's file, whether or not the host
// would run it.
type Inspection struct {
	// Description is what the plugin says of itself, nil where it could not be
	// asked.
	*Description
	// Digest and Size are those of the file, in bytes.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
	// ABI is the version that the module says it speaks, as in "v1", and "" where
	// it says nothing.
	ABI string `json:"abi"`
	// Outline is what could be read of the module, as it was written.
	wasmbin.Outline
}

// Inspect looks at a module and asks it to describe itself, as Load does.
//
// # Errors
//
// Those of Load. What could be read is returned all the same.
func (r *Runtime) Inspect(ctx context.Context, module []byte) (Inspection, error) {
	in := Survey(module)
	p, err := r.Load(ctx, module)
	if err != nil {
		return in, err
	}
	in.Description = &p.description
	return in, nil
}

// Module returns the plugin's module. Do not modify it.
func (p *Plugin) Module() []byte { return p.wasm }

// Survey looks at a module without running any of it.
func Survey(module []byte) Inspection {
	in := Inspection{Digest: Digest(module), Size: len(module)}
	if checkHeader(module) != nil {
		return in
	}
	in.Outline = wasmbin.Survey(module)
	for _, e := range in.Exports {
		if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok && in.ABI != "v1" {
			in.ABI = "v" + version
		}
	}
	return in
}
