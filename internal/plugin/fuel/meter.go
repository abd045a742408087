// Package fuel adds fuel metering to a WebAssembly module, so that the host can
// stop it.
//
// Compiled guest code runs on a thread that Go can neither preempt nor stop, and
// even a garbage collection waits for it. wazero's own check leaves the guest in
// every iteration of every loop, which makes small guests several times slower,
// and misses an exponential tree of calls without a loop. A metered module counts
// the work that it is about to do, in every loop and every function with calls,
// and calls an imported function whenever its fuel is used up. A guest cannot see
// its fuel, and its results do not depend on it. ADR-0010 has the reasons and the
// measurements.
//
// The meter supports WebAssembly 2.0 and refuses everything else: if it read an
// instruction's length differently than wazero, a guest could hide a loop in the
// difference.
package fuel

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// The function that a metered module imports. It takes no parameters and returns
// the fuel until its next call, a positive i32. It panics to stop the guest.
const (
	Module   = "switchyard"
	Function = "tick"
)

// Quantum is the fuel that a tick should grant. A unit is about one instruction. A
// guest runs a few milliseconds at most between two ticks, and usually some ten
// microseconds.
const Quantum = 1 << 20

// Meter returns a metered copy of a module, without custom sections. It does not
// retain code. It validates only the parts that it rewrites: the compiler validates
// the rest, and a module that is invalid stays invalid or is refused.
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
		wasmbin.SectionType, wasmbin.SectionImport, wasmbin.SectionFunction, wasmbin.SectionTable, wasmbin.SectionMemory, wasmbin.SectionGlobal, wasmbin.SectionExport,
		wasmbin.SectionStart, wasmbin.SectionElement, wasmbin.SectionDataCount, wasmbin.SectionCode, wasmbin.SectionData,
	}
}

// module holds the parts of a module that rewriting it needs.
type module struct {
	header   []byte
	sections [wasmbin.SectionDataCount + 1][]byte // nil if there is none
	types    []functionType
	funcs    []uint32 // the type of each function, imported ones first
	imported uint32   // the number of imported ones
	globals  uint32   // imported and its own
	// hostInTable is true if an indirect call may reach an imported function.
	hostInTable  bool
	compileCosts uint64 // of the compiler, for all functions
}

// functionType counts the parameters and results of a type.
type functionType struct{ params, results uint32 }

func (t functionType) values() uint64 { return uint64(t.params) + uint64(t.results) }

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

// read splits a module into its sections and counts what they declare.
func (m *module) read(code []byte) error {
	if len(code) < wasmbin.HeaderSize {
		return malformed("its header")
	}
	m.header = code[:wasmbin.HeaderSize]
	r := reader{wasmbin.Reader{Data: code, At: wasmbin.HeaderSize}}
	rest := order()
	for r.More() {
		id := r.Byte()
		body := r.Bytes()
		if r.Bad {
			return malformed("a section")
		}
		if id == wasmbin.SectionCustom {
			custom := newReader(body)
			if name := custom.Bytes(); custom.Bad || !utf8.Valid(name) {
				return malformed("a custom section")
			}
			continue
		}
		at := slices.Index(rest, id)
		if at < 0 {
			return malformed("the order of its sections")
		}
		rest = rest[at+1:]
		m.sections[id] = body
	}
	return m.each([]part{
		{wasmbin.SectionType, "its types", m.readTypes},
		{wasmbin.SectionImport, "its imports", m.readImports},
		{wasmbin.SectionFunction, "its functions", m.readFunctions},
		{wasmbin.SectionTable, "its tables", m.readTables},
		{wasmbin.SectionGlobal, "its globals", m.countGlobals},
	})
}

// write assembles the metered module: with tick among the imports, the fuel among
// the globals, and every function metered.
func (m *module) write() ([]byte, error) {
	err := m.each([]part{
		{wasmbin.SectionGlobal, "its globals", m.writeGlobals},
		{wasmbin.SectionExport, "its exports", m.writeExports},
		{wasmbin.SectionStart, "its start function", m.writeStart},
		{wasmbin.SectionElement, "its element segments", m.writeElements},
		{wasmbin.SectionCode, "its code", m.writeCode},
		{wasmbin.SectionData, "its data", m.readData},
	})
	if err != nil {
		return nil, err
	}
	m.insert(wasmbin.SectionType, []byte{wasmbin.TypeFunction, 0, 1, wasmbin.TypeI32})
	m.insert(wasmbin.SectionImport, slices.Concat(name(Module), name(Function), []byte{wasmbin.KindFunction}, uleb(uint32(len(m.types)))))
	m.insert(wasmbin.SectionGlobal, []byte{wasmbin.TypeI32, 1, opI32Const, 0, opEnd})
	m.insert(wasmbin.SectionGlobal, []byte{wasmbin.TypeI32, 1, opI32Const, 0, opEnd})
	room := len(m.header)
	for _, body := range m.sections {
		room += 1 + wasmbin.MaxLEB32 + len(body)
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

// part is a section, its name in messages, and the function that reads it. A
// section that is not read to its end is malformed.
type part struct {
	section byte
	what    string
	do      func(*reader) error
}

func (m *module) each(parts []part) error {
	for _, p := range parts {
		if m.sections[p.section] == nil {
			continue
		}
		r := newReader(m.sections[p.section])
		if err := p.do(&r); err != nil {
			return err
		}
		if !r.Whole() && p.section != wasmbin.SectionGlobal {
			return malformed(p.what)
		}
	}
	return nil
}

// insert appends one entry to the vector that a section consists of.
func (m *module) insert(id byte, entry []byte) {
	r := newReader(m.sections[id])
	n := uint32(0)
	if r.More() {
		n = r.U32()
	}
	m.sections[id] = slices.Concat(uleb(n+1), r.Data[r.At:], entry)
}

// readTypes counts each type's parameters and results.
func (m *module) readTypes(r *reader) error {
	n := r.U32()
	if err := atMost(uint64(n), maxTypes, "types"); err != nil {
		return err
	}
	for ; n > 0 && !r.Bad; n-- {
		if r.Byte() != wasmbin.TypeFunction {
			r.Fail()
		}
		t := functionType{params: r.valueTypes(), results: r.valueTypes()}
		if err := atMost(t.values(), maxValues, "parameters and results of a function"); err != nil {
			return err
		}
		m.types = append(m.types, t)
		m.compileCosts += t.values() * costType
	}
	return nil
}

// functionType reads the index of a type.
func (m *module) functionType(r *reader) uint32 { return r.Below(uint64(len(m.types))) }

func (m *module) readImports(r *reader) error {
	n := r.U32()
	if err := atMost(uint64(n), maxImports, "imports"); err != nil {
		return err
	}
	for ; n > 0 && !r.Bad; n-- {
		r.Bytes()
		r.Bytes()
		switch r.Byte() {
		case wasmbin.KindFunction:
			m.funcs = append(m.funcs, m.functionType(r))
			m.imported++
		case wasmbin.KindTable:
			r.valueType()
			r.limits()
		case wasmbin.KindMemory:
			r.limits()
		case wasmbin.KindGlobal:
			r.valueType()
			r.Byte()
			m.globals++
		default:
			r.Fail()
		}
	}
	return nil
}

func (m *module) readFunctions(r *reader) error {
	n := r.U32()
	if err := atMost(uint64(n), maxFunctions, "functions"); err != nil {
		return err
	}
	for ; n > 0 && !r.Bad; n-- {
		m.funcs = append(m.funcs, m.functionType(r))
	}
	return nil
}

func (m *module) readTables(r *reader) error {
	total := uint64(0)
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		r.valueType()
		total += uint64(r.limits())
		if err := atMost(total, maxTableElements, "table elements"); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) countGlobals(r *reader) error {
	n := r.U32()
	if err := atMost(uint64(n), maxGlobals, "globals"); err != nil {
		return err
	}
	m.globals += n
	return nil
}

// function reads the index of a function and returns its index in the metered
// module: tick is the last import, so the module's own functions move up by one.
func (m *module) function(r *reader) uint32 {
	f := r.Below(m.functions())
	if f < m.imported {
		return f
	}
	return f + 1
}

// reference is function for a function that becomes callable indirectly.
func (m *module) reference(r *reader) uint32 {
	f := m.function(r)
	m.hostInTable = m.hostInTable || f < m.imported
	return f
}

// global reads the index of a global.
func (m *module) global(r *reader) { r.Below(uint64(m.globals)) }

func (m *module) writeGlobals(r *reader) error {
	n := r.U32()
	out := uleb(n)
	for ; n > 0 && !r.Bad; n-- {
		from := r.At
		r.valueType()
		r.Byte() // whether it is mutable
		out = append(out, r.Data[from:r.At]...)
		out = m.expression(r, out)
	}
	if !r.Whole() {
		return malformed("its globals")
	}
	m.sections[wasmbin.SectionGlobal] = out
	return nil
}

func (m *module) writeExports(r *reader) error {
	n := r.U32()
	out := uleb(n)
	for ; n > 0 && !r.Bad; n-- {
		from := r.At
		r.Bytes()
		kind := r.Byte()
		index := r.At
		switch kind {
		case wasmbin.KindFunction:
			out = append(out, r.Data[from:index]...)
			out = binary.AppendUvarint(out, uint64(m.function(r)))
			continue
		case wasmbin.KindGlobal:
			m.global(r)
		default:
			r.U32()
		}
		out = append(out, r.Data[from:r.At]...)
	}
	m.sections[wasmbin.SectionExport] = out
	return nil
}

func (m *module) writeStart(r *reader) error {
	m.sections[wasmbin.SectionStart] = uleb(m.function(r))
	return nil
}

// writeElements shifts the functions of the element segments, whose eight forms
// are three bits (WebAssembly core, 5.5.12). It accepts only active segments, since
// wazero 1.12 without reference types panics on others.
func (m *module) writeElements(r *reader) error {
	n := r.U32()
	out := uleb(n)
	for ; n > 0 && !r.Bad; n-- {
		form := r.Below(8)
		out = append(out, byte(form))
		passive, explicit, expressions := form&1 != 0, form&2 != 0, form&4 != 0
		if passive {
			return &Error{What: "has element segments that are passive or declarative, which this host does not support"}
		}
		if explicit {
			out = binary.AppendUvarint(out, uint64(r.U32())) // its table
		}
		out = m.expression(r, out)
		if explicit {
			out = append(out, m.elementKind(r, expressions))
		}
		count := r.U32()
		out = binary.AppendUvarint(out, uint64(count))
		for ; count > 0 && !r.Bad; count-- {
			if expressions {
				out = m.expression(r, out)
			} else {
				out = binary.AppendUvarint(out, uint64(m.reference(r)))
			}
		}
	}
	m.sections[wasmbin.SectionElement] = out
	return nil
}

// elementKind reads the kind of a segment's elements.
func (m *module) elementKind(r *reader, expressions bool) byte {
	want := byte(0) // functions
	if expressions {
		want = wasmbin.TypeFuncref
	}
	if r.Byte() != want {
		r.Fail()
	}
	return want
}

// readData checks the offsets of the data segments.
func (m *module) readData(r *reader) error {
	for n := r.U32(); n > 0 && !r.Bad; n-- {
		const passive, explicit = 1, 2
		form := r.Below(3)
		if form == explicit {
			r.U32() // its memory
		}
		if form != passive {
			m.expression(r, nil)
		}
		r.Bytes()
	}
	return nil
}

// expression appends a constant expression to out, its function shifted. It is a
// single instruction in WebAssembly 2.0.
func (m *module) expression(r *reader, out []byte) []byte {
	from := r.At
	switch op := r.Byte(); op {
	case opRefFunc:
		out = append(out, op)
		out = binary.AppendUvarint(out, uint64(m.reference(r)))
		from = r.At
	case opGlobalGet:
		m.global(r)
	case opI32Const, opI64Const, opF32Const, opF64Const, opRefNull:
		r.immediates(op)
	case opVector:
		if r.immediates(op) != vectorConst {
			r.Fail()
		}
	default:
		r.Fail()
	}
	if r.Byte() != opEnd {
		r.Fail()
	}
	return append(out, r.Data[min(from, r.At):r.At]...)
}

// size returns the length of a number as LEB128, in bytes.
func size(n uint32) int { return (bits.Len32(n|1) + 6) / 7 }

func uleb(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func name(s string) []byte { return append(uleb(uint32(len(s))), s...) }
