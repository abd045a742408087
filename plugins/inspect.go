package plugins

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// Inspection describes a plugin's file, whether or not the host would run it.
type Inspection struct {
	// Description is the plugin's description of itself, nil if it could not be
	// run.
	*Description
	// Digest and Size are the file's, Size in bytes.
	Digest string `json:"digest"`
	Size   int    `json:"size"`
	// ABI is the version that the module declares, as in "v1", or "".
	ABI string `json:"abi"`
	// Outline is the part of the original module that could be read.
	wasmbin.Outline
}

// Inspect reads a module and has it describe itself, as Load does.
//
// # Errors
//
// Those of Load. The part that could be read is returned with the error.
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

// Survey reads a module without running it.
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
