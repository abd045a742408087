package wasmbin

import (
	"bytes"
	"fmt"
	"strings"
)

// Outline lists the imports, exports and memory of a module.
type Outline struct {
	// Imports and Exports are in the module's order.
	Imports []Import `json:"imports"`
	Exports []Export `json:"exports"`
	// Memory is the module's first memory, or nil.
	Memory *Memory `json:"memory"`
}

// Function is the kind of functions. Other kinds are table, memory and global.
const Function = "function"

// Import is an import of a module.
type Import struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	// Type is the type of a function, such as "(i32, i32) -> i64", or "".
	Type string `json:"type,omitzero"`
}

// Export is an export of a module. Kind and Type are as in Import.
type Export struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type,omitzero"`
}

// Memory is a module's declaration of a memory, in bytes.
type Memory struct {
	Minimum int64 `json:"minimum"`
	// Maximum is nil if the module does not set it.
	Maximum *int64 `json:"maximum"`
}

// Survey reads a module without validating or running it. It returns the readable parts of a
// malformed module.
func Survey(code []byte) Outline {
	var m module
	_ = m.read(code)
	return m.Outline
}

func (m *module) table(r *reader) {
	r.valueType()
	least, _ := r.limits()
	m.tableElements += uint64(least)
}

func (m *module) memoryType(r *reader) {
	least, most := r.limits()
	if m.Memory != nil || r.bad {
		return
	}
	m.Memory = &Memory{Minimum: int64(least) * PageSize}
	if most != nil {
		limit := int64(*most) * PageSize
		m.Memory.Maximum = &limit
	}
}

func (m *module) globalType(r *reader) {
	r.valueType()
	r.byte()
	m.globals++
}

// typeName formats the type of a function: "(i32, i32) -> i64".
func (m *module) typeName(t uint32) string {
	if uint64(t) >= uint64(len(m.types)) {
		return ""
	}
	params, results := valueTypeNames(m.types[t].params), valueTypeNames(m.types[t].results)
	if len(m.types[t].results) == 1 {
		return "(" + params + ") -> " + results
	}
	return "(" + params + ") -> (" + results + ")"
}

// maxShown limits how many parameters or results of a function are shown.
const maxShown = 16

func valueTypeNames(all []byte) string {
	var words []string
	for _, t := range all[:min(maxShown, len(all))] {
		words = append(words, valueTypeName(t))
	}
	if len(all) > maxShown {
		words = append(words, fmt.Sprintf("%d more", len(all)-maxShown))
	}
	return strings.Join(words, ", ")
}

// valueTypeName returns the name of a value's type, or "" for an unknown type.
func valueTypeName(t byte) string {
	switch t {
	case typeI32:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case typeFuncref:
		return "funcref"
	case 0x6f:
		return "externref"
	}
	return ""
}

// name reads a name and replaces invalid UTF-8.
func (r *reader) name() string { return string(bytes.ToValidUTF8(r.bytes(), []byte("\ufffd"))) }
