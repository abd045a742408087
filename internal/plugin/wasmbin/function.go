package wasmbin

import (
	"encoding/binary"
)

// The fuel of instructions. A unit is about one instruction.
const (
	// fuelCall is for a call and for the entry of its callee. Functions without calls, of at
	// most maxUnmetered bytes, are not metered at their entry.
	fuelCall     = 64
	maxUnmetered = 256
	// stretch is the maximum of fuel between two charges. A larger loop or function has
	// charges inside.
	stretch = Quantum / 4
	// immediateShift makes 4 bytes of an instruction's immediates one unit.
	immediateShift = 2
	// operandShift makes 16 bytes that an instruction moves one unit.
	operandShift = 4
)

func (m *module) writeCode(r *reader) {
	n := r.u32()
	if int(n) != len(m.funcs)-int(m.imported) {
		r.fail()
		return
	}
	out := make([]byte, 0, len(r.data)+len(r.data)/2)
	out = append(out, uleb(n)...)
	f := function{module: m}
	for _, t := range m.funcs[m.imported:] {
		if err := f.meter(m.types[t], r.bytes()); err != nil {
			r.refuse(err)
			return
		}
		out = binary.AppendUvarint(out, uint64(len(f.out)))
		out = append(out, f.out...)
	}
	m.sections[sectionCode] = out
}

// function rewrites one function. It is reused for the next one.
type function struct {
	*module
	reader
	out    []byte // the metered body so far
	copied int    // the offset in the original up to which it is copied to out

	locals uint64 // parameters included
	open   []block

	cost    int // of all instructions so far
	charged int // cost at the last charge inside the function
	charges int // the number of such charges so far

	instructions int
	compile      compileCost
}

// block is an open block, with the counts at its beginning.
type block struct {
	charge  int // the offset in out of a loop's own charge, or 0
	cost    int
	charges int

	values uint64 // the number of values that a branch to it passes
	// The minimum of addresses known on a branch to its end, and at an if if there is no
	// else.
	known, around uint64
}

// meter writes the metered body of a function to out.
func (f *function) meter(t functionType, code []byte) error {
	*f = function{module: f.module, reader: reader{data: code}, out: f.out[:0], open: f.open[:0], locals: uint64(len(t.params))}
	for n := f.u32(); n > 0 && !f.bad; n-- {
		f.locals += uint64(f.u32())
		f.valueType()
	}
	f.atMost(f.locals, maxLocals, "local variables in a function")
	start := f.at
	f.copyTo(start)
	f.appendCharge()
	charged := len(f.out)
	f.open = append(f.open, block{values: uint64(len(t.results)), known: nowhere, around: nowhere})
	for len(f.open) > 0 && f.more() {
		f.instruction()
	}
	if len(f.open) > 0 {
		f.fail()
	}
	if err := f.finish("its code"); err != nil {
		return err
	}
	f.copyTo(len(code))
	if f.compile.calls > 0 || len(code)-start+int(f.locals) > maxUnmetered {
		f.setCharge(start, f.cost+int(f.locals))
	} else {
		f.out = append(f.out[:start], f.out[charged:]...)
	}
	return f.addCompileCost(f.compile.total(f.instructions, f.locals, uint64(f.globals)))
}

func (f *function) instruction() {
	from := f.at
	op := f.byte()
	f.cost++
	f.instructions++
	switch op {
	case opBlock, opIf, opLoop:
		f.begin(op)
	case opElse:
		b := &f.open[len(f.open)-1]
		b.known = min(b.known, f.compile.known)
		f.compile.known, b.around = b.around, nowhere
		f.compile.block(1)
		f.join(*b)
	case opEnd:
		f.end()
	case opBr, opBrIf:
		f.branch(f.u32())
		if op == opBr {
			f.compile.known = nowhere
		}
		f.compile.block(1)
	case opBrTable:
		n := f.u32()
		for i := uint64(0); i <= uint64(n) && !f.bad; i++ {
			f.branch(f.u32())
		}
		f.compile.known = nowhere
		f.compile.blocks += uint64(n)/targetsPerBlock + 1
		f.compile.linear += uint64(n) * costTarget
	case opUnreachable, opReturn:
		f.compile.known = nowhere
	case opCall:
		callee := f.function(&f.reader)
		if callee < f.imported {
			f.appendTickBefore(from)
		}
		f.replace(from, op, callee)
		f.call(f.typeOf(callee))
	case opCallIndirect:
		t := f.functionType(&f.reader)
		f.u32()
		if f.hostInTable {
			f.appendTickBefore(from)
		}
		f.call(t)
		f.compile.addChecked(false)
		f.compile.linear += costIndirect
	case opLocalGet, opLocalSet, opLocalTee:
		f.below(f.locals)
	case opGlobalGet, opGlobalSet:
		f.global(&f.reader)
	case opRefFunc:
		f.replace(from, op, f.reference(&f.reader))
	case opMemoryGrow:
		f.immediates(op)
		f.appendTickBefore(from)
		f.compile.addChecked(false)
	case opMisc:
		f.misc(from)
	default:
		f.immediates(op)
		f.cost += (f.at - from) >> immediateShift
		if traps(op) {
			f.compile.addChecked(op <= opLastMemory)
		}
	}
	if f.cost-f.charged > stretch && len(f.open) > 0 {
		f.chargeStretch()
	}
}

func (f *function) begin(op byte) {
	t := f.blockType()
	b := block{values: uint64(len(t.results)), known: nowhere, around: nowhere}
	f.compile.values(t.values())
	switch op {
	case opIf:
		b.around = f.compile.known
		f.compile.block(blocksOfIf)
	case opLoop:
		f.copyTo(f.at)
		b.charge, b.values = len(f.out), uint64(len(t.params))
		f.appendCharge()
		f.compile.loops++
		f.compile.block(blocksOfLoop)
	}
	b.cost, b.charges = f.cost, f.charges
	f.open = append(f.open, b)
}

func (f *function) end() {
	b := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	f.compile.known = min(f.compile.known, b.known, b.around)
	f.compile.block(1)
	if b.charge > 0 {
		f.setCharge(b.charge, f.cost-b.cost)
	}
	if len(f.open) > 0 {
		f.join(b)
	}
}

// branch records a branch to the end of the block that many levels up, or to the head of a
// loop.
func (f *function) branch(levels uint32) {
	if uint64(levels) >= uint64(len(f.open)) {
		f.fail()
		return
	}
	b := &f.open[len(f.open)-1-int(levels)]
	f.compile.values(b.values)
	if b.charge == 0 {
		b.known = min(b.known, f.compile.known)
	}
}

// misc meters an instruction with the prefix opMisc.
func (f *function) misc(from int) {
	switch f.immediates(opMisc) {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		f.copyTo(from)
		f.appendOperandCharge()
		f.compile.block(blocksOfBulk)
		f.compile.addChecked(false)
	case miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
		f.appendTickBefore(from)
		f.compile.block(blocksOfBulk)
		f.compile.addChecked(false)
	}
}

// replace writes an instruction with one index instead of the one just read.
func (f *function) replace(from int, op byte, index uint32) {
	f.copyTo(from)
	f.out = binary.AppendUvarint(append(f.out, op), uint64(index))
	f.copied = f.at
}

func (f *function) blockType() functionType {
	n := f.s33()
	if n >= int64(len(f.types)) {
		f.fail()
	}
	if n >= 0 && !f.bad {
		return f.types[n]
	}
	switch code := n + 0x80; {
	case code == typeEmpty:
		return functionType{}
	case code < 0 || valueTypeName(byte(code)) == "":
		f.fail()
		return functionType{}
	}
	return functionType{results: f.data[f.at-1 : f.at]}
}

// copyTo copies the original to out, up to an offset.
func (f *function) copyTo(to int) {
	f.out = append(f.out, f.data[f.copied:to]...)
	f.copied = to
}

// call accounts for a call of a function of a type.
func (f *function) call(t uint32) {
	if f.bad {
		return
	}
	f.compile.calls++
	f.compile.values(f.types[t].values())
	f.cost += fuelCall
}

// join charges again at the else or the end of a block with a charge inside: a branch may
// have skipped that charge.
func (f *function) join(b block) {
	if f.charges != b.charges {
		f.chargeStretch()
	}
}

// chargeStretch writes a charge for the next stretch.
func (f *function) chargeStretch() {
	f.copyTo(f.at)
	at := len(f.out)
	f.appendCharge()
	f.setCharge(at, stretch)
	f.charged = f.cost
	f.charges++
}

// appendCharge appends code that subtracts a cost from the fuel, and calls tick if the fuel is
// used up. setCharge sets the cost, which is known only later.
func (f *function) appendCharge() {
	f.index(opGlobalGet, f.fuel())
	f.out = append(f.out, opI32Const, 0x80, 0x80, 0, opI32Sub)
	f.appendFuelCheck()
}

// setCharge sets the cost of the charge at an offset in out: a signed LEB128 of
// three bytes.
func (f *function) setCharge(at, cost int) {
	cost = min(cost, stretch)
	leb := f.out[at+1+size(f.fuel())+1:]
	leb[0], leb[1], leb[2] = byte(cost)|0x80, byte(cost>>7)|0x80, byte(cost>>14)
}

// appendOperandCharge appends code that charges for a number of bytes, which is on top of the stack
// and stays there.
func (f *function) appendOperandCharge() {
	f.index(opGlobalSet, f.scratch())
	f.index(opGlobalGet, f.fuel())
	f.index(opGlobalGet, f.scratch())
	f.out = append(f.out, opI32Const, operandShift, opI32ShrU, opI32Sub)
	f.appendFuelCheck()
	f.index(opGlobalGet, f.scratch())
}

// appendFuelCheck appends code that sets the fuel to the value on the stack, and calls
// tick if it is negative.
func (f *function) appendFuelCheck() {
	f.index(opGlobalSet, f.fuel())
	f.index(opGlobalGet, f.fuel())
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, typeEmpty)
	f.appendTick()
	f.out = append(f.out, opEnd)
}

// appendTick appends a call of tick, which refills the fuel.
func (f *function) appendTick() {
	f.out = append(f.out, opCall)
	f.out = binary.AppendUvarint(f.out, uint64(f.imported))
	f.index(opGlobalSet, f.fuel())
}

// appendTickBefore appends a call of tick before the instruction at from, which can take
// milliseconds.
func (f *function) appendTickBefore(from int) {
	f.copyTo(from)
	f.appendTick()
	f.compile.calls++
}

// fuel and scratch are the globals that the meter adds.
func (f *function) fuel() uint32    { return f.globals }
func (f *function) scratch() uint32 { return f.fuel() + 1 }

func (f *function) index(op byte, index uint32) {
	f.out = binary.AppendUvarint(append(f.out, op), uint64(index))
}
