// Package meter rewrites a WebAssembly module so that it looks at the clock.
//
// Compiled guest code runs on a thread that Go can neither preempt nor stop, and
// even a garbage collection waits for it. wazero's own check leaves the guest in
// every iteration of every loop, which costs small guests several times their
// work, and never sees an exponential tree of calls without a loop. A metered
// module counts the work that it is about to do, in every loop and every
// function that calls others, and leaves the guest once in a while, by a call to
// an imported function. What it counts is only how soon it asks: a guest cannot
// see the count, and its results do not depend on it. ADR-0010 has the reasons
// and the measurements.
//
// The meter knows WebAssembly 2.0 and nothing else, and refuses what it does not
// know: if it read an instruction's length differently than wazero, a guest could
// hide a loop in the difference.
package meter

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// The function that a metered module imports: it takes nothing, and returns how
// much work the module may do before it asks again, a positive i32. To stop the
// guest, it panics.
const (
	Module   = "switchyard"
	Function = "tick"
)

// Quantum is the work that a tick should grant. A unit is about an instruction,
// so that a guest asks every few milliseconds.
const Quantum = 1 << 20

// Meter returns a metered copy of a module. It leaves custom sections out,
// keeps no part of wasm, and does not validate the module beyond what it has to
// know: compiling does that. What would be invalid in the original is invalid or
// refused in the copy.
//
// # Errors
//
// An *Error where the module is malformed, or exceeds a limit.
func Meter(wasm []byte) ([]byte, error) {
	m := module{}
	if err := m.read(wasm); err != nil {
		return nil, err
	}
	return m.write()
}

// The sections of a module (WebAssembly core, 5.5.2).
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// order lists the sections as they stand in a module.
func order() []byte {
	return []byte{
		sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal, sectionExport,
		sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
	}
}

// headerSize is the length of the magic number and the version.
const headerSize = 8

// module is what has to be known of a module to rewrite it.
type module struct {
	header   []byte
	sections [sectionDataCount + 1][]byte // nil where there is none
	types    []functionType
	funcs    []uint32 // the type of each function, imported ones first
	imported uint32   // how many of them are imported
	globals  uint32   // imported and its own
	// hostInTable: an indirect call may lead to an imported function.
	hostInTable bool
	efforts     uint64 // of the compiler, for all functions
}

// functionType is how many parameters and results a type has.
type functionType struct{ params, results uint32 }

func (t functionType) values() uint64 { return uint64(t.params) + uint64(t.results) }

// functions is how many functions the module has, imported and its own.
func (m *module) functions() uint64 { return uint64(len(m.funcs)) }

// typeOf is the type of a function by its index in the metered module.
func (m *module) typeOf(f uint32) uint32 {
	switch {
	case len(m.funcs) == 0: // Something was bad.
		return 0
	case f > m.imported:
		f--
	}
	return m.funcs[f]
}

// read splits a module into its sections and counts what they declare.
func (m *module) read(wasm []byte) error {
	if len(wasm) < headerSize {
		return malformed("its header")
	}
	m.header = wasm[:headerSize]
	r := reader{data: wasm, at: headerSize}
	rest := order()
	for r.more() {
		id := r.byte()
		body := r.bytes()
		if r.bad {
			return malformed("a section")
		}
		if id == sectionCustom {
			custom := reader{data: body}
			if name := custom.bytes(); custom.bad || !utf8.Valid(name) {
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
		{sectionType, "its types", m.readTypes},
		{sectionImport, "its imports", m.readImports},
		{sectionFunction, "its functions", m.readFunctions},
		{sectionTable, "its tables", m.readTables},
		{sectionGlobal, "its globals", m.countGlobals},
	})
}

// write puts the module together again, with tick imported, the count of work
// among the globals, and every function metered.
func (m *module) write() ([]byte, error) {
	err := m.each([]part{
		{sectionGlobal, "its globals", m.writeGlobals},
		{sectionExport, "its exports", m.writeExports},
		{sectionStart, "its start function", m.writeStart},
		{sectionElement, "its element segments", m.writeElements},
		{sectionCode, "its code", m.writeCode},
		{sectionData, "its data", m.readData},
	})
	if err != nil {
		return nil, err
	}
	m.insert(sectionType, []byte{typeFunction, 0, 1, typeI32})
	m.insert(sectionImport, slices.Concat(name(Module), name(Function), []byte{kindFunction}, uleb(uint32(len(m.types)))))
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

// part is a section, what it is called, and what is done with it. A section is
// malformed where not all of it can be read.
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
		r := reader{data: m.sections[p.section]}
		if err := p.do(&r); err != nil {
			return err
		}
		if !r.whole() && p.section != sectionGlobal {
			return malformed(p.what)
		}
	}
	return nil
}

// insert appends one entry to the vector that a section consists of.
func (m *module) insert(id byte, entry []byte) {
	r := reader{data: m.sections[id]}
	n := uint32(0)
	if r.more() {
		n = r.u32()
	}
	m.sections[id] = slices.Concat(uleb(n+1), r.data[r.at:], entry)
}

// readTypes counts each type's parameters and results.
func (m *module) readTypes(r *reader) error {
	n := r.u32()
	if err := atMost(uint64(n), maxTypes, "types"); err != nil {
		return err
	}
	for ; n > 0 && !r.bad; n-- {
		if r.byte() != typeFunction {
			r.fail()
		}
		t := functionType{params: r.valueTypes(), results: r.valueTypes()}
		if err := atMost(t.values(), maxValues, "parameters and results of a function"); err != nil {
			return err
		}
		m.types = append(m.types, t)
		m.efforts += t.values() * effortType
	}
	return nil
}

// functionType reads the index of a type.
func (m *module) functionType(r *reader) uint32 { return r.below(uint64(len(m.types))) }

// The kinds of imports and exports.
const (
	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
)

func (m *module) readImports(r *reader) error {
	n := r.u32()
	if err := atMost(uint64(n), maxImports, "imports"); err != nil {
		return err
	}
	for ; n > 0 && !r.bad; n-- {
		r.bytes()
		r.bytes()
		switch r.byte() {
		case kindFunction:
			m.funcs = append(m.funcs, m.functionType(r))
			m.imported++
		case kindTable:
			r.valueType()
			r.limits()
		case kindMemory:
			r.limits()
		case kindGlobal:
			r.valueType()
			r.byte()
			m.globals++
		default:
			r.fail()
		}
	}
	return nil
}

func (m *module) readFunctions(r *reader) error {
	n := r.u32()
	if err := atMost(uint64(n), maxFunctions, "functions"); err != nil {
		return err
	}
	for ; n > 0 && !r.bad; n-- {
		m.funcs = append(m.funcs, m.functionType(r))
	}
	return nil
}

func (m *module) readTables(r *reader) error {
	total := uint64(0)
	for n := r.u32(); n > 0 && !r.bad; n-- {
		r.valueType()
		total += uint64(r.limits())
		if err := atMost(total, maxTableElements, "table elements"); err != nil {
			return err
		}
	}
	return nil
}

func (m *module) countGlobals(r *reader) error {
	n := r.u32()
	if err := atMost(uint64(n), maxGlobals, "globals"); err != nil {
		return err
	}
	m.globals += n
	return nil
}

// function reads the index of a function, and returns the one that it has in the
// metered module: tick comes last of the imported ones, and pushes the module's
// own up.
func (m *module) function(r *reader) uint32 {
	f := r.below(m.functions())
	if f < m.imported {
		return f
	}
	return f + 1
}

// reference is function, for one that can be called indirectly from now on.
func (m *module) reference(r *reader) uint32 {
	f := m.function(r)
	m.hostInTable = m.hostInTable || f < m.imported
	return f
}

// global reads the index of a global.
func (m *module) global(r *reader) { r.below(uint64(m.globals)) }

func (m *module) writeGlobals(r *reader) error {
	n := r.u32()
	out := uleb(n)
	for ; n > 0 && !r.bad; n-- {
		from := r.at
		r.valueType()
		r.byte() // whether it is mutable
		out = append(out, r.data[from:r.at]...)
		out = m.expression(r, out)
	}
	if !r.whole() {
		return malformed("its globals")
	}
	m.sections[sectionGlobal] = out
	return nil
}

func (m *module) writeExports(r *reader) error {
	n := r.u32()
	out := uleb(n)
	for ; n > 0 && !r.bad; n-- {
		from := r.at
		r.bytes()
		kind := r.byte()
		index := r.at
		switch kind {
		case kindFunction:
			out = append(out, r.data[from:index]...)
			out = binary.AppendUvarint(out, uint64(m.function(r)))
			continue
		case kindGlobal:
			m.global(r)
		default:
			r.u32()
		}
		out = append(out, r.data[from:r.at]...)
	}
	m.sections[sectionExport] = out
	return nil
}

func (m *module) writeStart(r *reader) error {
	m.sections[sectionStart] = uleb(m.function(r))
	return nil
}

// writeElements shifts the functions of the element segments, whose eight forms
// are three bits (WebAssembly core, 5.5.12). Only active segments can be had:
// wazero 1.12 without reference types panics over others.
func (m *module) writeElements(r *reader) error {
	n := r.u32()
	out := uleb(n)
	for ; n > 0 && !r.bad; n-- {
		form := r.below(8)
		out = append(out, byte(form))
		passive, explicit, expressions := form&1 != 0, form&2 != 0, form&4 != 0
		if passive {
			return &Error{What: "has element segments that are passive or declarative, which this host does not know"}
		}
		if explicit {
			out = binary.AppendUvarint(out, uint64(r.u32())) // its table
		}
		out = m.expression(r, out)
		if explicit {
			out = append(out, m.elementKind(r, expressions))
		}
		count := r.u32()
		out = binary.AppendUvarint(out, uint64(count))
		for ; count > 0 && !r.bad; count-- {
			if expressions {
				out = m.expression(r, out)
			} else {
				out = binary.AppendUvarint(out, uint64(m.reference(r)))
			}
		}
	}
	m.sections[sectionElement] = out
	return nil
}

// elementKind reads what a segment consists of.
func (m *module) elementKind(r *reader, expressions bool) byte {
	want := byte(0) // functions
	if expressions {
		want = typeFuncref
	}
	if r.byte() != want {
		r.fail()
	}
	return want
}

// readData holds the places of the data segments against what there is.
func (m *module) readData(r *reader) error {
	for n := r.u32(); n > 0 && !r.bad; n-- {
		const passive, explicit = 1, 2
		form := r.below(3)
		if form == explicit {
			r.u32() // its memory
		}
		if form != passive {
			m.expression(r, nil)
		}
		r.bytes()
	}
	return nil
}

// expression appends a constant expression to out, its function shifted. It is a
// single instruction in WebAssembly 2.0.
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
	return append(out, r.data[min(from, r.at):r.at]...)
}

// size is how many bytes the LEB128 of a number has.
func size(n uint32) int { return (bits.Len32(n|1) + 6) / 7 }

func uleb(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func name(s string) []byte { return append(uleb(uint32(len(s))), s...) }
