package pluginset

import (
	"context"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins"
)

// Inspect examines a plugin, named by name or file, and asks it to describe itself, unless
// switchyard.lock pins another digest.
//
// # Errors
//
// If there is a file, the part of it that could be read is returned with the error.
func (s *Set) Inspect(ctx context.Context, ref string) (api.PluginInspection, error) {
	r, err := s.newResolver(ctx)
	if err != nil {
		return api.PluginInspection{}, err
	}
	limits := r.runtime.Limits()
	in := api.PluginInspection{Limits: api.PluginLimits{
		Memory: limits.Memory, TimeMS: limits.Time.Milliseconds(), Output: limits.Output, Report: r.reportLimits().Bytes,
	}}
	wasm, err := r.module(ctx, ref)
	if wasm == nil {
		return in, err
	}
	if err != nil {
		in.Inspection = plugins.Survey(wasm)
		return in, err
	}
	in.Inspection, err = r.runtime.Inspect(ctx, wasm)
	if err != nil && !abi.IsName(ref) {
		err = withPath(err, ref)
	}
	return in, err
}

// Module returns the module of a plugin, by its name or its file.
func (s *Set) Module(ctx context.Context, ref string) (api.PluginModule, error) {
	r, err := s.newResolver(ctx)
	if err != nil {
		return api.PluginModule{}, err
	}
	wasm, err := r.module(ctx, ref)
	if err != nil {
		return api.PluginModule{}, err
	}
	return api.PluginModule{Wasm: wasm, Limits: r.runtime.Limits()}, nil
}
