package fuel

import (
	"encoding/binary"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// What the work of an instruction counts, in units of about an instruction.
const (
	// costCall is a call, and what the called function does if it is not metered
	// where it is entered: one that calls none, and is no larger than free.
	costCall = 64
	free     = 256
	// stretch is the most work between two payments: a loop or a function that is
	// larger pays again on its way.
	stretch = Quantum / 4
	// immediateShift scales the bytes of an instruction's immediates: a unit is 4.
	immediateShift = 2
	// operandShift scales the bytes that an instruction moves: a unit is 16.
	operandShift = 4
)

// writeCode meters every function.
func (m *module) writeCode(r *reader) error {
	n := r.U32()
	if int(n) != len(m.funcs)-int(m.imported) {
		return malformed("its code")
	}
	out := make([]byte, 0, len(r.Data)+len(r.Data)/2)
	out = append(out, uleb(n)...)
	f := function{module: m}
	for _, t := range m.funcs[m.imported:] {
		if err := f.meter(m.types[t], r.Bytes()); err != nil {
			return err
		}
		out = binary.AppendUvarint(out, uint64(len(f.out)))
		out = append(out, f.out...)
	}
	m.sections[wasmbin.SectionCode] = out
	return nil
}

// function is a function on its way through the meter. It is used again for the
// next one.
type function struct {
	*module
	reader
	out    []byte // what is done
	copied int    // up to where out has what was read

	locals uint64 // parameters included
	open   []block

	cost  int // of all instructions so far
	paid  int // what it was at the last payment on the way
	tolls int // payments on the way so far

	instructions int
	effort       effort
}

// block is an open block, and what was counted when it began.
type block struct {
	pay   int // where in out a loop pays for itself, or 0
	cost  int
	tolls int

	values uint64 // that a branch to it brings along
	// The fewest addresses known on a branch to its end, and on the way around
	// an if that has no else.
	known, around uint64
}

// meter makes out the metered body of a function.
func (f *function) meter(t functionType, code []byte) error {
	*f = function{module: f.module, reader: newReader(code), out: f.out[:0], open: f.open[:0], locals: uint64(t.params)}
	for n := f.U32(); n > 0 && !f.Bad; n-- {
		f.locals += uint64(f.U32())
		f.valueType()
	}
	if err := atMost(f.locals, maxLocals, "local variables in a function"); err != nil {
		return err
	}
	start := f.At
	f.copyTo(start)
	f.pay()
	paid := len(f.out)
	f.open = append(f.open, block{values: uint64(t.results), known: nowhere, around: nowhere})
	for len(f.open) > 0 && f.More() {
		f.instruction()
	}
	if !f.Whole() || len(f.open) > 0 {
		return malformed("its code")
	}
	f.copyTo(len(code))
	if f.effort.calls > 0 || len(code)-start+int(f.locals) > free {
		f.charge(start, f.cost+int(f.locals))
	} else {
		f.out = append(f.out[:start], f.out[paid:]...)
	}
	return f.spend(f.effort.total(f.instructions, f.locals, uint64(f.globals)))
}

func (f *function) instruction() {
	from := f.At
	op := f.Byte()
	f.cost++
	f.instructions++
	switch op {
	case opBlock, opIf, opLoop:
		f.begin(op)
	case opElse:
		b := &f.open[len(f.open)-1]
		b.known = min(b.known, f.effort.known)
		f.effort.known, b.around = b.around, nowhere
		f.effort.block(1)
		f.join(*b)
	case opEnd:
		f.end()
	case opBr, opBrIf:
		f.branch(f.U32())
		if op == opBr {
			f.effort.known = nowhere
		}
		f.effort.block(1)
	case opBrTable:
		n := f.U32()
		for i := uint64(0); i <= uint64(n) && !f.Bad; i++ {
			f.branch(f.U32())
		}
		f.effort.known = nowhere
		f.effort.blocks += uint64(n)/targetsPerBlock + 1
		f.effort.linear += uint64(n) * effortTarget
	case opUnreachable, opReturn:
		f.effort.known = nowhere
	case opCall:
		callee := f.function(&f.reader)
		if callee < f.imported {
			f.lookBefore(from)
		}
		f.replace(from, op, callee)
		f.call(f.typeOf(callee))
	case opCallIndirect:
		t := f.functionType(&f.reader)
		f.U32()
		if f.hostInTable {
			f.lookBefore(from)
		}
		f.call(t)
		f.effort.checked(false)
		f.effort.linear += effortIndirect
	case opLocalGet, opLocalSet, opLocalTee:
		f.Below(f.locals)
	case opGlobalGet, opGlobalSet:
		f.global(&f.reader)
	case opRefFunc:
		f.replace(from, op, f.reference(&f.reader))
	case opMemoryGrow:
		f.immediates(op)
		f.lookBefore(from)
		f.effort.checked(false)
	case opMisc:
		f.misc(from)
	default:
		f.immediates(op)
		f.cost += (f.At - from) >> immediateShift
		if traps(op) {
			f.effort.checked(op <= opLastMemory)
		}
	}
	if f.cost-f.paid > stretch && len(f.open) > 0 {
		f.toll()
	}
}

// begin opens a block.
func (f *function) begin(op byte) {
	t := f.blockType()
	b := block{values: uint64(t.results), known: nowhere, around: nowhere}
	f.effort.values(t.values())
	switch op {
	case opIf:
		b.around = f.effort.known
		f.effort.block(blocksOfIf)
	case opLoop:
		f.copyTo(f.At)
		b.pay, b.values = len(f.out), uint64(t.params)
		f.pay()
		f.effort.loops++
		f.effort.block(blocksOfLoop)
	}
	b.cost, b.tolls = f.cost, f.tolls
	f.open = append(f.open, b)
}

// end closes a block.
func (f *function) end() {
	b := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	f.effort.known = min(f.effort.known, b.known, b.around)
	f.effort.block(1)
	if b.pay > 0 {
		f.charge(b.pay, f.cost-b.cost)
	}
	if len(f.open) > 0 {
		f.join(b)
	}
}

// branch notes a branch to the end of the block so many levels up, or to the
// head of the loop.
func (f *function) branch(levels uint32) {
	if uint64(levels) >= uint64(len(f.open)) {
		f.Fail()
		return
	}
	b := &f.open[len(f.open)-1-int(levels)]
	f.effort.values(b.values)
	if b.pay == 0 {
		b.known = min(b.known, f.effort.known)
	}
}

// misc is an instruction below opMisc.
func (f *function) misc(from int) {
	switch f.immediates(opMisc) {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		f.copyTo(from)
		f.payOperand()
		f.effort.block(blocksOfBulk)
		f.effort.checked(false)
	case miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
		f.lookBefore(from)
		f.effort.block(blocksOfBulk)
		f.effort.checked(false)
	}
}

// replace puts an instruction with one index in the place of the one just read.
func (f *function) replace(from int, op byte, index uint32) {
	f.copyTo(from)
	f.out = binary.AppendUvarint(append(f.out, op), uint64(index))
	f.copied = f.At
}

// blockType reads the type of a block.
func (f *function) blockType() functionType {
	n := f.S33()
	if n >= int64(len(f.types)) {
		f.Fail()
	}
	if n >= 0 && !f.Bad {
		return f.types[n]
	}
	switch n + 0x80 {
	case wasmbin.TypeEmpty:
		return functionType{}
	case wasmbin.TypeI32, wasmbin.TypeI64, wasmbin.TypeF32, wasmbin.TypeF64, wasmbin.TypeV128, wasmbin.TypeFuncref, wasmbin.TypeExternref:
	default:
		f.Fail()
	}
	return functionType{results: 1}
}

// copyTo copies what has been read and not yet been copied, up to there.
func (f *function) copyTo(to int) {
	f.out = append(f.out, f.Data[f.copied:to]...)
	f.copied = to
}

// call notes a call of a function of that type.
func (f *function) call(t uint32) {
	if f.Bad {
		return
	}
	f.effort.calls++
	f.effort.values(f.types[t].values())
	f.cost += costCall
}

// join pays where a branch can have come from before a payment on the way that
// lies within the block.
func (f *function) join(b block) {
	if f.tolls != b.tolls {
		f.toll()
	}
}

// toll pays for the next stretch.
func (f *function) toll() {
	f.copyTo(f.At)
	at := len(f.out)
	f.pay()
	f.charge(at, stretch)
	f.paid = f.cost
	f.tolls++
}

// pay appends code that takes a cost off the count, and looks at the clock where
// nothing is left. The cost is filled in by charge.
func (f *function) pay() {
	f.ours(opGlobalGet, f.count())
	f.out = append(f.out, opI32Const, 0x80, 0x80, 0, opI32Sub)
	f.ask()
}

// charge fills in the cost of the payment at a place in out: a signed LEB128 of
// three bytes.
func (f *function) charge(at, cost int) {
	cost = min(cost, stretch)
	leb := f.out[at+1+size(f.count())+1:]
	leb[0], leb[1], leb[2] = byte(cost)|0x80, byte(cost>>7)|0x80, byte(cost>>14)
}

// payOperand appends code that pays for as many bytes as the number on top of
// the stack says, which stays there.
func (f *function) payOperand() {
	f.ours(opGlobalSet, f.scratch())
	f.ours(opGlobalGet, f.count())
	f.ours(opGlobalGet, f.scratch())
	f.out = append(f.out, opI32Const, operandShift, opI32ShrU, opI32Sub)
	f.ask()
	f.ours(opGlobalGet, f.scratch())
}

// ask appends code that sets the count to what is on the stack, and looks at the
// clock where that is negative.
func (f *function) ask() {
	f.ours(opGlobalSet, f.count())
	f.ours(opGlobalGet, f.count())
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, wasmbin.TypeEmpty)
	f.look()
	f.out = append(f.out, opEnd)
}

// look appends code that looks at the clock, which refills the count.
func (f *function) look() {
	f.out = append(f.out, opCall)
	f.out = binary.AppendUvarint(f.out, uint64(f.imported))
	f.ours(opGlobalSet, f.count())
}

// lookBefore looks at the clock before the instruction at from, which can take
// milliseconds by itself.
func (f *function) lookBefore(from int) {
	f.copyTo(from)
	f.look()
	f.effort.calls++
}

// count and scratch are the globals of the meter's own.
func (f *function) count() uint32   { return f.globals }
func (f *function) scratch() uint32 { return f.globals + 1 }

func (f *function) ours(op byte, index uint32) {
	f.out = binary.AppendUvarint(append(f.out, op), uint64(index))
}
