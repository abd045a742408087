package plugins

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// offerTick makes the function that every metered guest imports. It stops a guest
// whose time is over or whose caller has given up. It also lets the garbage collector
// and other goroutines run.
func offerTick(ctx context.Context, r wazero.Runtime) error {
	tick := api.GoFunc(func(ctx context.Context, stack []uint64) {
		if ctx.Err() != nil {
			panic(context.Cause(ctx))
		}
		stack[0] = wasmbin.Quantum
	})
	_, err := r.NewHostModuleBuilder(wasmbin.TickModule).
		NewFunctionBuilder().WithGoFunction(tick, nil, []api.ValueType{api.ValueTypeI32}).Export(wasmbin.TickFunction).
		Instantiate(ctx)
	return err
}

// offerWASI makes WASI preview 1 and returns its functions by name.
func offerWASI(ctx context.Context, r wazero.Runtime) (map[string]api.FunctionDefinition, error) {
	compiled, err := wasi.NewBuilder(r).Compile(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig()); err != nil {
		return nil, err
	}
	return compiled.ExportedFunctions(), nil
}
