package plugins

import (
	"bytes"
	"context"
	"fmt"
	"strings"
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
	// Imports and Exports are those of the module as it was written; what could
	// be read of them, where it is malformed.
	Imports []Import `json:"imports"`
	Exports []Export `json:"exports"`
	// Memory is the module's first memory, nil where it has none.
	Memory *Memory `json:"memory"`
}

// Import is something that a module needs.
type Import struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	// Kind is function, table, memory or global, and Type is the type as text,
	// as in "(i32, i32) -> i64".
	Kind string `json:"kind"`
	Type string `json:"type"`
}

// Export is something that a module offers. Kind and Type are those of Import.
type Export struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type"`
}

// Memory is what a module declares of a memory, in bytes.
type Memory struct {
	Minimum int64 `json:"minimum"`
	// Maximum is nil where the module sets none.
	Maximum *int64 `json:"maximum"`
}

// Inspect looks at a module and asks it to describe itself, as Load does.
//
// # Errors
//
// Those of Load. What could be read is returned all the same.
func (r *Runtime) Inspect(ctx context.Context, wasm []byte) (Inspection, error) {
	in := Survey(wasm)
	p, err := r.Load(ctx, wasm)
	if err != nil {
		return in, err
	}
	in.Description = &p.description
	return in, nil
}

// Module returns the plugin's module. Do not modify it.
func (p *Plugin) Module() []byte { return p.wasm }

// Survey looks at a module without running any of it.
func Survey(wasm []byte) Inspection {
	s := survey{Inspection: Inspection{Digest: Digest(wasm), Size: len(wasm)}}
	if checkHeader(wasm) == nil {
		s.sections(&wasmReader{data: wasm[8:]})
	}
	return s.Inspection
}

// survey reads a module far enough to say what it imports and exports.
type survey struct {
	Inspection
	types                                []string // as text
	functions, tables, memories, globals []string // the type of each, as text
}

// The sections of a module that are read (WebAssembly core, 5.5.2).
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionTable    = 4
	sectionMemory   = 5
	sectionGlobal   = 6
	sectionExport   = 7
)

func (s *survey) sections(r *wasmReader) {
	for r.more() {
		id := r.byte()
		body := &wasmReader{data: r.bytes()}
		switch id {
		case sectionType:
			body.each(func() {
				body.byte() // 0x60, a function
				s.types = append(s.types, functionType(body.bytes(), body.bytes()))
			})
		case sectionImport:
			body.each(func() { s.imported(body) })
		case sectionFunction:
			body.each(func() { s.functions = append(s.functions, typeAt(s.types, body.u32())) })
		case sectionTable:
			body.each(func() { s.tables = append(s.tables, body.table()) })
		case sectionMemory:
			body.each(func() { s.memory(body) })
		case sectionGlobal:
			body.each(func() {
				s.globals = append(s.globals, body.global())
				body.expression()
			})
		case sectionExport:
			body.each(func() { s.exported(body) })
		}
	}
}

func (s *survey) imported(r *wasmReader) {
	i := Import{Module: r.name(), Name: r.name()}
	switch r.byte() {
	case 0:
		i.Kind, i.Type = "function", typeAt(s.types, r.u32())
		s.functions = append(s.functions, i.Type)
	case 1:
		i.Kind, i.Type = "table", r.table()
		s.tables = append(s.tables, i.Type)
	case 2:
		i.Kind, i.Type = "memory", s.memory(r)
	case 3:
		i.Kind, i.Type = "global", r.global()
		s.globals = append(s.globals, i.Type)
	default:
		r.fail()
	}
	if !r.bad {
		s.Imports = append(s.Imports, i)
	}
}

func (s *survey) exported(r *wasmReader) {
	e := Export{Name: r.name()}
	kind, index := r.byte(), r.u32()
	switch kind {
	case 0:
		e.Kind, e.Type = "function", typeAt(s.functions, index)
	case 1:
		e.Kind, e.Type = "table", typeAt(s.tables, index)
	case 2:
		e.Kind, e.Type = "memory", typeAt(s.memories, index)
	case 3:
		e.Kind, e.Type = "global", typeAt(s.globals, index)
	default:
		r.fail()
	}
	if r.bad {
		return
	}
	s.Exports = append(s.Exports, e)
	if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok && s.ABI != "v1" {
		s.ABI = "v" + version
	}
}

// memory reads the type of a memory, and keeps the first.
func (s *survey) memory(r *wasmReader) string {
	least, most := r.limits()
	m := &Memory{Minimum: int64(least) * wasmPage}
	text := fmt.Sprintf("%d pages or more", least)
	if most != nil {
		limit := int64(*most) * wasmPage
		m.Maximum = &limit
		text = fmt.Sprintf("%d to %d pages", least, *most)
	}
	if s.Memory == nil && !r.bad {
		s.Memory = m
	}
	s.memories = append(s.memories, text)
	return text
}

// typeAt returns the type at an index, which a malformed module may lack.
func typeAt(types []string, index uint32) string {
	if uint64(index) < uint64(len(types)) {
		return types[index]
	}
	return "unknown"
}

// wasmReader reads the binary format as far as a survey needs it. Behind its end, and
// behind anything malformed, it reads zeros and is bad.
type wasmReader struct {
	data []byte
	bad  bool
}

func (r *wasmReader) more() bool { return !r.bad && len(r.data) > 0 }

func (r *wasmReader) fail() { r.bad, r.data = true, nil }

func (r *wasmReader) byte() byte {
	if len(r.data) == 0 {
		r.fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// u32 reads an unsigned LEB128.
func (r *wasmReader) u32() uint32 {
	n := uint64(0)
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return uint32(n)
		}
	}
	r.fail()
	return 0
}

func (r *wasmReader) bytes() []byte {
	return r.take(r.u32())
}

func (r *wasmReader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.fail()
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *wasmReader) name() string { return string(bytes.ToValidUTF8(r.bytes(), []byte("\ufffd"))) }

// each reads a vector, an entry at a time.
func (r *wasmReader) each(entry func()) {
	for n := r.u32(); n > 0 && !r.bad; n-- {
		entry()
	}
}

// maxValues is how many parameters or results of a function are named.
const maxValues = 16

// functionType writes a function's type: "(i32, i32) -> i64".
func functionType(params, results []byte) string {
	if len(results) == 1 {
		return "(" + valueTypes(params) + ") -> " + valueTypes(results)
	}
	return "(" + valueTypes(params) + ") -> (" + valueTypes(results) + ")"
}

func valueTypes(all []byte) string {
	var words []string
	for _, t := range all[:min(maxValues, len(all))] {
		words = append(words, valueType(t))
	}
	if len(all) > maxValues {
		words = append(words, fmt.Sprintf("%d more", len(all)-maxValues))
	}
	return strings.Join(words, ", ")
}

func (r *wasmReader) limits() (least uint32, most *uint32) {
	bounded := r.byte()&1 == 1
	least = r.u32()
	if bounded {
		n := r.u32()
		most = &n
	}
	return least, most
}

func (r *wasmReader) table() string {
	of := valueType(r.byte())
	least, _ := r.limits()
	return fmt.Sprintf("%d %s", least, of)
}

func (r *wasmReader) global() string {
	of := valueType(r.byte())
	if r.byte() == 1 {
		return "mutable " + of
	}
	return of
}

// expression passes over a constant expression.
func (r *wasmReader) expression() {
	for !r.bad {
		switch r.byte() {
		case 0x0b: // end
			return
		case 0x41, 0x42: // i32.const, i64.const
			for r.byte() >= 0x80 {
			}
		case 0x43: // f32.const
			r.take(4)
		case 0x44: // f64.const
			r.take(8)
		case 0xfd: // v128.const
			r.u32()
			r.take(16)
		case 0x23, 0xd2: // global.get, ref.func
			r.u32()
		case 0xd0: // ref.null
			r.byte()
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub, mul
		default:
			r.fail()
		}
	}
}

func valueType(b byte) string {
	switch b {
	case 0x7f:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	default:
		return fmt.Sprintf("type %#x", b)
	}
}
