package plugins

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// Inspect reads a module and has it describe itself, as Load does.
//
// # Errors
//
// Those of Load. The part that could be read is returned with the error.
func (r *Runtime) Inspect(ctx context.Context, module []byte) (abi.Inspection, error) {
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

// Survey reads a module without running it.
func Survey(module []byte) abi.Inspection {
	in := abi.Inspection{Digest: digest.Of(module), Size: len(module)}
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
