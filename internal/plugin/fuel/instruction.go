package fuel

import "github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"

// The instructions and types that matter here (WebAssembly core, 5.3 and 5.4).
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opFirstMemory  = 0x28
	opLastMemory   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opFirstNumeric = 0x45
	opI32LtS       = 0x48
	opI32Sub       = 0x6b
	opI32DivS      = 0x6d
	opI32RemU      = 0x70
	opI32ShrU      = 0x76
	opI64DivS      = 0x7f
	opI64RemU      = 0x82
	opI32TruncF32S = 0xa8
	opI64TruncF64U = 0xb1
	opLastNumeric  = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd

	// Below opMisc.
	miscLastConversion = 7
	miscMemoryInit     = 8
	miscDataDrop       = 9
	miscMemoryCopy     = 10
	miscMemoryFill     = 11
	miscTableInit      = 12
	miscElemDrop       = 13
	miscTableCopy      = 14
	miscTableGrow      = 15
	miscTableFill      = 17

	// Below opVector.
	vectorLastMemory     = 11
	vectorConst          = 12
	vectorShuffle        = 13
	vectorFirstLane      = 21
	vectorLastLane       = 34
	vectorFirstLaneOnMem = 84
	vectorLastLaneOnMem  = 91
	vectorLoad32Zero     = 92
	vectorLoad64Zero     = 93
	vectorLast           = 255
)

// traps reports whether an instruction without a prefix can trap on its operands.
func traps(op byte) bool {
	return op >= opFirstMemory && op <= opLastMemory || op >= opI32DivS && op <= opI32RemU ||
		op >= opI64DivS && op <= opI64RemU || op >= opI32TruncF32S && op <= opI64TruncF64U
}

// immediates passes over what follows an opcode. It knows the instructions of
// WebAssembly 2.0, as far as they name nothing that the meter moves; others are
// bad. It returns the opcode below a prefix.
func (r *reader) immediates(op byte) (sub uint32) {
	switch {
	case op == opNop || op == opDrop || op == opSelect || op == opRefIsNull:
	case op == opTableGet || op == opTableSet:
		r.U32()
	case op == opSelectTyped:
		if r.Byte() != 1 {
			r.Fail()
		}
		r.valueType()
	case op >= opFirstMemory && op <= opLastMemory:
		r.U32()
		r.U32()
	case op == opMemorySize || op == opMemoryGrow:
		r.zero()
	case op == opRefNull:
		r.valueType()
	case op == opI32Const:
		r.Skip(wasmbin.MaxLEB32)
	case op == opI64Const:
		r.Skip(wasmbin.MaxLEB64)
	case op == opF32Const:
		r.Take(4)
	case op == opF64Const:
		r.Take(8)
	case op >= opFirstNumeric && op <= opLastNumeric:
	case op == opMisc:
		sub = r.opcode()
		r.miscImmediates(sub)
	case op == opVector:
		sub = r.opcode()
		r.vectorImmediates(sub)
	default:
		r.Fail()
	}
	return sub
}

// opcode reads the opcode below a prefix. It must not be padded: wazero takes the
// first byte of a vector instruction's for the whole, and what follows for an
// instruction, which is right as long as that is 0x01, nop.
func (r *reader) opcode() uint32 {
	from := r.At
	n := r.U32()
	if r.At-from != size(n) {
		r.Fail()
	}
	return n
}

// zero reads the byte that stands for the only memory.
func (r *reader) zero() {
	if r.Byte() != 0 {
		r.Fail()
	}
}

func (r *reader) miscImmediates(sub uint32) {
	switch {
	case sub <= miscLastConversion:
	case sub == miscMemoryInit:
		r.U32()
		r.zero()
	case sub == miscMemoryCopy:
		r.zero()
		r.zero()
	case sub == miscMemoryFill:
		r.zero()
	case sub == miscTableInit || sub == miscTableCopy:
		r.U32()
		r.U32()
	case sub == miscDataDrop || sub == miscElemDrop || sub >= miscTableGrow && sub <= miscTableFill:
		r.U32()
	default:
		r.Fail()
	}
}

func (r *reader) vectorImmediates(sub uint32) {
	switch {
	case sub <= vectorLastMemory || sub == vectorLoad32Zero || sub == vectorLoad64Zero:
		r.U32()
		r.U32()
	case sub == vectorConst || sub == vectorShuffle:
		r.Take(16)
	case sub >= vectorFirstLane && sub <= vectorLastLane:
		r.Byte()
	case sub >= vectorFirstLaneOnMem && sub <= vectorLastLaneOnMem:
		r.U32()
		r.U32()
		r.Byte()
	case sub <= vectorLast:
	default:
		r.Fail()
	}
}
