package wasmbin

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// The function that a metered module imports. It returns the fuel until its next call, a
// positive i32, or panics to stop the guest.
const (
	TickModule   = "switchyard"
	TickFunction = "tick"
)

// Quantum is the fuel that a tick should grant. A unit is about one instruction. Between two
// ticks a guest usually runs for tens of microseconds, and at most for a few milliseconds.
const Quantum = 1 << 20

// Meter returns a metered copy of a module, without custom sections. It does not retain
// code. It validates only the parts that it rewrites, and the compiler validates the rest: an
// invalid module stays invalid or is refused.
//
// Go can neither preempt nor stop a thread that runs compiled guest code, and even a garbage
// collection waits for it. wazero's own check leaves the guest in every iteration of every
// loop. That makes small guests several times slower, and misses an exponential tree of calls
// without a loop. A metered module counts its work in advance, in every loop and in every
// function with calls, and calls an imported function when its fuel is used up. A guest
// cannot see its fuel, and its results do not depend on it. ADR-0010 has the reasons and the
// measurements.
//
// The meter supports only WebAssembly 2.0: if it read another length of an instruction than
// wazero, a guest could hide a loop in the difference.
//
// # Errors
//
// An *Error if the module is malformed or exceeds a limit.
func Meter(code []byte) ([]byte, error) {
	m := module{}
	if err := m.read(code); err != nil {
		return nil, err
	}
	return m.write()
}

// order lists the sections in the order of a module.
func order() []byte {
	return []byte{
		sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal, sectionExport,
		sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
	}
}

// module has the declarations of a module. Sections with functions, globals or their indexes
// are rewritten while they are read.
type module struct {
	header   []byte
	sections [sectionDataCount + 1][]byte // nil for a missing section
	types    []functionType
	funcs    []uint32 // the type of each function, imported ones first
	imported uint32   // the number of imported functions
	globals  uint32   // the number of globals, imported ones included

	Outline

	tableElements uint64
	// hostInTable is true if an indirect call may reach an imported function.
	hostInTable  bool
	compileCosts uint64 // of the compiler, for all functions
}

// functionType has the types of a function's parameters and results.
type functionType struct{ params, results []byte }

func (t functionType) values() uint64 { return uint64(len(t.params) + len(t.results)) }

// functions returns the number of functions, imported ones included.
func (m *module) functions() uint64 { return uint64(len(m.funcs)) }

// typeOf returns the type of a function by its index in the metered module.
func (m *module) typeOf(f uint32) uint32 {
	switch {
	case len(m.funcs) == 0: // The module is malformed.
		return 0
	case f > m.imported:
		f--
	}
	return m.funcs[f]
}

// read reads the declarations of a module. After an error it continues with the sections
// that it has found.
func (m *module) read(code []byte) error {
	err := m.split(code)
	declared := m.each([]part{
		{sectionType, "its types", m.readTypes},
		{sectionImport, "its imports", m.readImports},
		{sectionFunction, "its functions", m.readFunctions},
		{sectionTable, "its tables", m.readTables},
		{sectionMemory, "its memories", m.readMemories},
		{sectionGlobal, "its globals", m.readGlobals},
		{sectionExport, "its exports", m.readExports},
	})
	return cmp.Or(err, declared)
}

func (m *module) split(code []byte) error {
	if len(code) < headerSize {
		return errMalformed("its header")
	}
	m.header = code[:headerSize]
	r := reader{data: code, at: headerSize}
	rest := order()
	for r.more() {
		id := r.byte()
		body := r.bytes()
		if r.bad {
			return errMalformed("a section")
		}
		if id == sectionCustom {
			custom := reader{data: body}
			if name := custom.bytes(); custom.bad || !utf8.Valid(name) {
				return errMalformed("a custom section")
			}
			continue
		}
		at := slices.Index(rest, id)
		if at < 0 {
			return errMalformed("the order of its sections")
		}
		rest = rest[at+1:]
		m.sections[id] = body
	}
	return nil
}

// write assembles the metered module. It adds tick to the imports and the fuel to the globals,
// and meters every function.
func (m *module) write() ([]byte, error) {
	err := m.each([]part{
		{sectionStart, "its start function", m.writeStart},
		{sectionElement, "its element segments", m.writeElements},
		{sectionCode, "its code", m.writeCode},
		{sectionData, "its data", m.readData},
	})
	if err != nil {
		return nil, err
	}
	m.insert(sectionType, []byte{typeFunction, 0, 1, typeI32})
	m.insert(sectionImport, slices.Concat(name(TickModule), name(TickFunction), []byte{kindFunction}, uleb(uint32(len(m.types)))))
	m.insert(sectionGlobal, []byte{typeI32, 1, opI32Const, 0, opEnd})
	m.insert(sectionGlobal, []byte{typeI32, 1, opI32Const, 0, opEnd})
	room := len(m.header)
	for _, body := range m.sections {
		room += 1 + maxLEB32 + len(body)
	}
	out := append(make([]byte, 0, room), m.header...)
	for _, id := range order() {
		if body := m.sections[id]; body != nil {
			out = append(out, id)
			out = binary.AppendUvarint(out, uint64(len(body)))
			out = append(out, body...)
		}
	}
	return out, nil
}

// part is a section, its name in messages, and the function that must read it to its end.
type part struct {
	section byte
	what    string
	do      func(*reader)
}

// each reads all parts, and returns the first error.
func (m *module) each(parts []part) (first error) {
	for _, p := range parts {
		if m.sections[p.section] == nil {
			continue
		}
		r := &reader{data: m.sections[p.section]}
		p.do(r)
		first = cmp.Or(first, r.finish(p.what))
	}
	return first
}

// insert appends an entry to a section, which is a vector of entries.
func (m *module) insert(id byte, entry []byte) {
	r := reader{data: m.sections[id]}
	n := uint32(0)
	if r.more() {
		n = r.u32()
	}
	m.sections[id] = slices.Concat(uleb(n+1), r.data[r.at:], entry)
}

func (m *module) readTypes(r *reader) {
	r.each(r.count(maxTypes, "types"), func() {
		if r.byte() != typeFunction {
			r.fail()
		}
		t := functionType{params: r.valueTypes(), results: r.valueTypes()}
		if r.atMost(t.values(), maxValues, "parameters and results of a function"); !r.bad {
			m.types = append(m.types, t)
			m.compileCosts += t.values() * costType
		}
	})
}

func (m *module) functionType(r *reader) uint32 { return r.below(uint64(len(m.types))) }

func (m *module) readImports(r *reader) {
	r.each(r.count(maxImports, "imports"), func() {
		i := Import{Module: r.name(), Name: r.name()}
		switch r.byte() {
		case kindFunction:
			t := m.functionType(r)
			i.Kind, i.Type = Function, m.typeName(t)
			m.funcs = append(m.funcs, t)
			m.imported++
		case kindTable:
			i.Kind = "table"
			m.table(r)
		case kindMemory:
			i.Kind = "memory"
			m.memoryType(r)
		case kindGlobal:
			i.Kind = "global"
			m.globalType(r)
		default:
			r.fail()
		}
		if !r.bad {
			m.Imports = append(m.Imports, i)
		}
	})
}

func (m *module) readFunctions(r *reader) {
	r.each(r.count(maxFunctions, "functions"), func() { m.funcs = append(m.funcs, m.functionType(r)) })
}

func (m *module) readTables(r *reader) {
	r.each(r.u32(), func() {
		m.table(r)
		r.atMost(m.tableElements, maxTableElements, "table elements")
	})
}

func (m *module) readMemories(r *reader) {
	r.each(r.below(2), func() { m.memoryType(r) })
}

func (m *module) readGlobals(r *reader) {
	n := r.count(maxGlobals, "globals")
	out := uleb(n)
	r.each(n, func() {
		from := r.at
		m.globalType(r)
		out = append(out, r.data[from:r.at]...)
		out = m.expression(r, out)
	})
	m.sections[sectionGlobal] = out
}

func (m *module) readExports(r *reader) {
	n := r.count(maxExports, "exports")
	out := uleb(n)
	r.each(n, func() {
		from := r.at
		e := Export{Name: r.name()}
		kind := r.byte()
		out = append(out, r.data[from:r.at]...)
		var index uint32
		switch kind {
		case kindFunction:
			index = m.function(r)
			e.Kind, e.Type = Function, m.typeName(m.typeOf(index))
		case kindTable:
			e.Kind = "table"
			index = r.u32()
		case kindMemory:
			e.Kind = "memory"
			index = r.u32()
		case kindGlobal:
			e.Kind = "global"
			index = m.global(r)
		default:
			r.fail()
		}
		out = binary.AppendUvarint(out, uint64(index))
		if !r.bad {
			m.Exports = append(m.Exports, e)
		}
	})
	m.sections[sectionExport] = out
}

// function reads the index of a function and returns its index in the metered
// module: tick is the last import, so the module's own functions move up by one.
func (m *module) function(r *reader) uint32 {
	f := r.below(m.functions())
	if f < m.imported {
		return f
	}
	return f + 1
}

// reference is like function, for a function that can then be called indirectly.
func (m *module) reference(r *reader) uint32 {
	f := m.function(r)
	m.hostInTable = m.hostInTable || f < m.imported
	return f
}

func (m *module) global(r *reader) uint32 { return r.below(uint64(m.globals)) }

func (m *module) writeStart(r *reader) { m.sections[sectionStart] = uleb(m.function(r)) }

// writeElements shifts the functions of the element segments, which have eight forms, encoded
// in three bits (WebAssembly core, 5.5.12). It accepts only active segments: wazero 1.12
// without reference types panics on others.
func (m *module) writeElements(r *reader) {
	n := r.count(maxSegments, "element segments")
	out := uleb(n)
	r.each(n, func() {
		form := r.below(8)
		out = append(out, byte(form))
		passive, explicit, expressions := form&1 != 0, form&2 != 0, form&4 != 0
		if passive {
			r.refuse(&Error{What: "has element segments that are passive or declarative, which this host does not support"})
		}
		if explicit {
			out = binary.AppendUvarint(out, uint64(r.u32())) // its table
		}
		out = m.expression(r, out)
		if explicit {
			kind := byte(0) // functions
			if expressions {
				kind = typeFuncref
			}
			if r.byte() != kind {
				r.fail()
			}
			out = append(out, kind)
		}
		count := r.u32()
		out = binary.AppendUvarint(out, uint64(count))
		r.each(count, func() {
			if expressions {
				out = m.expression(r, out)
			} else {
				out = binary.AppendUvarint(out, uint64(m.reference(r)))
			}
		})
	})
	m.sections[sectionElement] = out
}

// readData checks the offsets of the data segments.
func (m *module) readData(r *reader) {
	r.each(r.count(maxSegments, "data segments"), func() {
		const passive, explicit = 1, 2
		form := r.below(3)
		if form == explicit {
			r.u32() // its memory
		}
		if form != passive {
			m.expression(r, nil)
		}
		r.bytes()
	})
}

// expression appends a constant expression to out and shifts its function. In WebAssembly 2.0
// it is a single instruction.
func (m *module) expression(r *reader, out []byte) []byte {
	from := r.at
	switch op := r.byte(); op {
	case opRefFunc:
		out = append(out, op)
		out = binary.AppendUvarint(out, uint64(m.reference(r)))
		from = r.at
	case opGlobalGet:
		m.global(r)
	case opI32Const, opI64Const, opF32Const, opF64Const, opRefNull:
		r.immediates(op)
	case opVector:
		if r.immediates(op) != vectorConst {
			r.fail()
		}
	default:
		r.fail()
	}
	if r.byte() != opEnd {
		r.fail()
	}
	return append(out, r.data[from:r.at]...)
}

func uleb(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func name(s string) []byte { return append(uleb(uint32(len(s))), s...) }
