package plugins

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// ABI is the version of the ABI that this host implements.
const ABI = "v1"

// The exports of ABI v1 (docs/plugin-abi.md).
const (
	exportMemory    = "memory"
	exportMarker    = "switchyard_abi_" + ABI
	exportAlloc     = "sy_alloc"
	exportDescribe  = "sy_describe"
	exportNormalize = "sy_normalize"

	// markerPrefix begins the marker of every version of the ABI.
	markerPrefix = "switchyard_abi_v"
	// exportInitialize is called first, if a WASI reactor exports it.
	exportInitialize = "_initialize"
)

// checkModule checks a compiled, metered module against ABI v1 before it runs.
func checkModule(m wazero.CompiledModule, limits abi.Limits) error {
	exported := m.ExportedFunctions()
	if _, ok := exported[exportMarker]; !ok {
		for _, name := range slices.Sorted(maps.Keys(exported)) {
			if version, other := strings.CutPrefix(name, markerPrefix); other {
				return abi.Violation(errs.PluginABI, abi.UnknownABI, "the plugin speaks ABI v%s; this host speaks v1", version).With("abi", version)
			}
		}
	}
	const u32, u64 = api.ValueTypeI32, api.ValueTypeI64
	for _, want := range []struct {
		name            string
		params, results []api.ValueType
	}{
		{exportMarker, nil, nil},
		{exportAlloc, []api.ValueType{u32}, []api.ValueType{u32}},
		{exportDescribe, nil, []api.ValueType{u64}},
		{exportNormalize, []api.ValueType{u32, u32, u32, u32}, []api.ValueType{u64}},
	} {
		got, ok := exported[want.name]
		if !ok {
			return abi.Violation(errs.PluginABI, abi.MissingExport, "the plugin does not export %s", want.name).With("export", want.name)
		}
		if !slices.Equal(got.ParamTypes(), want.params) || !slices.Equal(got.ResultTypes(), want.results) {
			return abi.Violation(errs.PluginABI, abi.WrongExport, "the plugin exports %s with the wrong type", want.name).With("export", want.name)
		}
	}
	memory, ok := m.ExportedMemories()[exportMemory]
	if !ok {
		return abi.Violation(errs.PluginABI, abi.MissingExport, "the plugin does not export its memory").With("export", exportMemory)
	}
	if need := int64(memory.Min()) * wasmbin.PageSize; need > limits.Memory {
		return errs.New(errs.PluginMemory, "the plugin starts with %d bytes of memory; the limit is %d", need, limits.Memory).
			With("limit", limits.Memory)
	}
	return nil
}

// checkImports refuses imports from outside WASI preview 1 before the module is compiled.
// link refuses functions that WASI does not have.
func checkImports(imports []wasmbin.Import) error {
	for _, i := range imports {
		if i.Module != wasi.ModuleName || i.Kind != wasmbin.Function {
			return errForbiddenImport(i.Module, i.Name)
		}
	}
	return nil
}

// link instantiates the modules that m imports. Few guests need WASI.
func (m *module) link(ctx context.Context) error {
	if err := offerTick(ctx, m.runtime); err != nil {
		return err
	}
	imports := m.compiled.ImportedFunctions()
	imports = imports[:len(imports)-1] // The last one is the meter's.
	if len(imports) == 0 {
		return nil
	}
	offered, err := wasi.NewBuilder(m.runtime).Compile(ctx)
	if err != nil {
		return err
	}
	functions := offered.ExportedFunctions()
	for _, f := range imports {
		from, name, _ := f.Import()
		if _, ok := functions[name]; !ok || from != wasi.ModuleName {
			return errForbiddenImport(from, name)
		}
	}
	_, err = m.runtime.InstantiateModule(ctx, offered, wazero.NewModuleConfig())
	return err
}

func errForbiddenImport(from, name string) error {
	return abi.Violation(errs.PluginABI, abi.ForbiddenImport, "the plugin imports %s.%s; only WASI preview 1 may be imported", from, name).
		With("import", from+"."+name)
}

// offerTick exports the function that every metered guest imports. The function stops the
// guest if ctx is done. Each call also lets the garbage collector and other goroutines run.
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
