package host

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
)

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
		ReportLimit: document.Limits{Bytes: shelf.config.Limits.Report}.WithDefaults().Bytes,
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
	if err != nil && !abi.IsName(ref) {
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
