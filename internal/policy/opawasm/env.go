package opawasm

import "encoding/binary"

// The names that a compiled policy imports, all of them from module "env".
const (
	envModule  = "env"
	hostModule = "opa"
)

// hostFunctions lists the imported functions of a policy with their numbers of
// parameters; those that call a built-in return a value.
func hostFunctions() []hostFunction {
	return []hostFunction{
		{"opa_abort", 1, false},
		{"opa_println", 1, false},
		{"opa_builtin0", 2, true},
		{"opa_builtin1", 3, true},
		{"opa_builtin2", 4, true},
		{"opa_builtin3", 5, true},
		{"opa_builtin4", 6, true},
	}
}

type hostFunction struct {
	name    string
	params  int
	returns bool
}

// The parts of the WebAssembly binary format that are used here.
const (
	sectionType, sectionImport, sectionMemory, sectionExport = 1, 2, 5, 7

	typeI32, typeFunc             = 0x7f, 0x60
	externFunc, externMemory      = 0, 2
	limitsWithMaximum        byte = 1
)

// environment returns the module from which a policy imports its memory and the host's
// functions. The memory must come from a module, and the functions from the host, but a
// policy expects both under one name: this module defines the memory, imports the
// functions and exports both. A page has 64 KiB.
func environment(minPages, maxPages uint32) []byte {
	functions := hostFunctions()
	count := uint64(len(functions))

	types, imports := uleb(count), uleb(count)
	exports := append(uleb(count+1), name("memory")...)
	exports = append(exports, externMemory, 0)
	for i, f := range functions {
		types = append(types, typeFunc, byte(f.params))
		for range f.params {
			types = append(types, typeI32)
		}
		if f.returns {
			types = append(types, 1, typeI32)
		} else {
			types = append(types, 0)
		}
		imports = append(append(imports, name(hostModule)...), name(f.name)...)
		imports = append(imports, externFunc, byte(i))
		exports = append(exports, name(f.name)...)
		exports = append(exports, externFunc, byte(i))
	}
	memory := append(uleb(1), limitsWithMaximum)
	memory = append(append(memory, uleb(uint64(minPages))...), uleb(uint64(maxPages))...)

	module := []byte("\x00asm\x01\x00\x00\x00")
	module = append(module, section(sectionType, types)...)
	module = append(module, section(sectionImport, imports)...)
	module = append(module, section(sectionMemory, memory)...)
	return append(module, section(sectionExport, exports)...)
}

func section(id byte, content []byte) []byte {
	return append(append([]byte{id}, uleb(uint64(len(content)))...), content...)
}

func name(s string) []byte { return append(uleb(uint64(len(s))), s...) }

// uleb returns n in LEB128, which Go calls uvarint.
func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }
