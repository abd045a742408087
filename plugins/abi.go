package plugins

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// The exports of ABI v1 (design section 4).
const (
	exportMemory    = "memory"
	exportMarker    = "switchyard_abi_v1"
	exportAlloc     = "sy_alloc"
	exportDescribe  = "sy_describe"
	exportNormalize = "sy_normalize"

	// markerPrefix begins the marker of every version of the ABI.
	markerPrefix = "switchyard_abi_v"
	// exportInitialize is what a WASI reactor wants called first.
	exportInitialize = "_initialize"
)

// signature is the type of a function export.
type signature struct {
	params, results []api.ValueType
}

// functions lists the function exports that ABI v1 asks for.
func functions() map[string]signature {
	const u32, u64 = api.ValueTypeI32, api.ValueTypeI64
	return map[string]signature{
		exportMarker:    {},
		exportAlloc:     {[]api.ValueType{u32}, []api.ValueType{u32}},
		exportDescribe:  {nil, []api.ValueType{u64}},
		exportNormalize: {[]api.ValueType{u32, u32, u32, u32}, []api.ValueType{u64}},
	}
}

// checkHeader says what a file is that is no core WebAssembly module.
func checkHeader(wasm []byte) error {
	switch {
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return fault.New(CodeABI, "the plugin is not a WebAssembly module")
	case !bytes.HasPrefix(wasm[4:], []byte{1, 0, 0, 0}):
		return fault.New(CodeABI, "the plugin is not a core WebAssembly module of version 1; components are not supported")
	}
	return nil
}

// checkModule holds a compiled module against ABI v1 before anything of it runs.
func checkModule(m wazero.CompiledModule, limits Limits) error {
	for _, f := range m.ImportedFunctions() {
		if from, name, _ := f.Import(); from != wasi.ModuleName {
			return fault.New(CodeABI, "the plugin imports %s.%s; only WASI preview 1 may be imported", from, name).
				With("import", from+"."+name)
		}
	}
	for _, mem := range m.ImportedMemories() {
		from, name, _ := mem.Import()
		return fault.New(CodeABI, "the plugin imports the memory %s.%s", from, name).With("import", from+"."+name)
	}
	exported := m.ExportedFunctions()
	if _, ok := exported[exportMarker]; !ok {
		for name := range exported {
			if version, other := strings.CutPrefix(name, markerPrefix); other {
				return fault.New(CodeABI, "the plugin speaks ABI v%s; this host speaks v1", version).With("abi", version)
			}
		}
	}
	for name, want := range functions() {
		got, ok := exported[name]
		if !ok {
			return fault.New(CodeABI, "the plugin does not export %s", name).With("export", name)
		}
		if !slices.Equal(got.ParamTypes(), want.params) || !slices.Equal(got.ResultTypes(), want.results) {
			return fault.New(CodeABI, "the plugin exports %s with the wrong type", name).With("export", name)
		}
	}
	memory, ok := m.ExportedMemories()[exportMemory]
	if !ok {
		return fault.New(CodeABI, "the plugin does not export its memory").With("export", exportMemory)
	}
	if need := int64(memory.Min()) * wasmPage; need > limits.Memory {
		return fault.New(CodeMemory, "the plugin starts with %d bytes of memory; the limit is %d", need, limits.Memory).
			With("limit", limits.Memory)
	}
	return nil
}
