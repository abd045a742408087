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

// The kinds of imports and exports, in words.
const (
	Function = "function"
	Table    = "table"
	Global   = "global"
	Mem      = "memory"
)

// Import is an import of a module.
type Import struct {
	Module string `json:"module"`
	Name   string `json:"name"`
	// Kind is function, table, memory or global, and Type is the type as text, such as
	// "(i32, i32) -> i64".
	Kind string `json:"kind"`
	Type string `json:"type"`
}

// Export is an export of a module. Kind and Type are as in Import.
type Export struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Type string `json:"type"`
}

// Memory is a module's declaration of a memory, in bytes.
type Memory struct {
	Minimum int64 `json:"minimum"`
	// Maximum is nil if the module sets none.
	Maximum *int64 `json:"maximum"`
}

// Survey reads a module without validating or running it. If the module is malformed, it
// returns the part before that.
func Survey(module []byte) Outline {
	if len(module) < HeaderSize {
		return Outline{}
	}
	var s survey
	s.sections(&Reader{Data: module, At: HeaderSize})
	return s.Outline
}

// survey reads a module section by section.
type survey struct {
	Outline
	types                                []string // as text
	functions, tables, memories, globals []string // the type of each, as text
}

func (s *survey) sections(r *Reader) {
	for r.More() {
		id := r.Byte()
		body := &Reader{Data: r.Bytes()}
		switch id {
		case SectionType:
			body.each(func() {
				body.Byte() // 0x60, a function
				s.types = append(s.types, functionType(body.Bytes(), body.Bytes()))
			})
		case SectionImport:
			body.each(func() { s.imported(body) })
		case SectionFunction:
			body.each(func() { s.functions = append(s.functions, typeAt(s.types, body.U32())) })
		case SectionTable:
			body.each(func() { s.tables = append(s.tables, body.table()) })
		case SectionMemory:
			body.each(func() { s.memory(body) })
		case SectionGlobal:
			body.each(func() {
				s.globals = append(s.globals, body.global())
				body.expression()
			})
		case SectionExport:
			body.each(func() { s.exported(body) })
		}
	}
}

func (s *survey) imported(r *Reader) {
	i := Import{Module: r.name(), Name: r.name()}
	switch r.Byte() {
	case KindFunction:
		i.Kind, i.Type = Function, typeAt(s.types, r.U32())
		s.functions = append(s.functions, i.Type)
	case KindTable:
		i.Kind, i.Type = Table, r.table()
		s.tables = append(s.tables, i.Type)
	case KindMemory:
		i.Kind, i.Type = Mem, s.memory(r)
	case KindGlobal:
		i.Kind, i.Type = Global, r.global()
		s.globals = append(s.globals, i.Type)
	default:
		r.Fail()
	}
	if !r.Bad {
		s.Imports = append(s.Imports, i)
	}
}

func (s *survey) exported(r *Reader) {
	e := Export{Name: r.name()}
	kind, index := r.Byte(), r.U32()
	switch kind {
	case KindFunction:
		e.Kind, e.Type = Function, typeAt(s.functions, index)
	case KindTable:
		e.Kind, e.Type = Table, typeAt(s.tables, index)
	case KindMemory:
		e.Kind, e.Type = Mem, typeAt(s.memories, index)
	case KindGlobal:
		e.Kind, e.Type = Global, typeAt(s.globals, index)
	default:
		r.Fail()
	}
	if !r.Bad {
		s.Exports = append(s.Exports, e)
	}
}

// memory reads the type of a memory and stores the first one.
func (s *survey) memory(r *Reader) string {
	least, most := r.limits()
	m := &Memory{Minimum: int64(least) * PageSize}
	text := fmt.Sprintf("%d pages or more", least)
	if most != nil {
		limit := int64(*most) * PageSize
		m.Maximum = &limit
		text = fmt.Sprintf("%d to %d pages", least, *most)
	}
	if s.Memory == nil && !r.Bad {
		s.Memory = m
	}
	s.memories = append(s.memories, text)
	return text
}

// typeAt returns the type at an index, which may be out of range in a malformed module.
func typeAt(types []string, index uint32) string {
	if uint64(index) < uint64(len(types)) {
		return types[index]
	}
	return "unknown"
}

// maxValues limits how many parameters or results of a function are shown.
const maxValues = 16

// functionType formats a function's type: "(i32, i32) -> i64".
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

func (r *Reader) limits() (least uint32, most *uint32) {
	bounded := r.Byte()&1 == 1
	least = r.U32()
	if bounded {
		n := r.U32()
		most = &n
	}
	return least, most
}

func (r *Reader) table() string {
	of := valueType(r.Byte())
	least, _ := r.limits()
	return fmt.Sprintf("%d %s", least, of)
}

func (r *Reader) global() string {
	of := valueType(r.Byte())
	if r.Byte() == 1 {
		return "mutable " + of
	}
	return of
}

// expression skips a constant expression.
func (r *Reader) expression() {
	for !r.Bad {
		switch r.Byte() {
		case 0x0b: // end
			return
		case 0x41, 0x42: // i32.const, i64.const
			for r.Byte() >= 0x80 {
			}
		case 0x43: // f32.const
			r.Take(4)
		case 0x44: // f64.const
			r.Take(8)
		case 0xfd: // v128.const
			r.U32()
			r.Take(16)
		case 0x23, 0xd2: // global.get, ref.func
			r.U32()
		case 0xd0: // ref.null
			r.Byte()
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub, mul
		default:
			r.Fail()
		}
	}
}

func valueType(b byte) string {
	switch b {
	case TypeI32:
		return "i32"
	case TypeI64:
		return "i64"
	case TypeF32:
		return "f32"
	case TypeF64:
		return "f64"
	case TypeV128:
		return "v128"
	case TypeFuncref:
		return "funcref"
	case TypeExternref:
		return "externref"
	default:
		return fmt.Sprintf("type %#x", b)
	}
}

// name reads a name and replaces invalid UTF-8.
func (r *Reader) name() string { return string(bytes.ToValidUTF8(r.Bytes(), []byte("\ufffd"))) }

// each calls entry for each entry of a vector.
func (r *Reader) each(entry func()) {
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		entry()
	}
}
