package wasmbin

// The instructions that matter to the meter (WebAssembly core, 5.4).
const (
	opUnreachable  = 0x00
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
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opFirstMemory  = 0x28 // loads and stores
	opLastMemory   = 0x3e
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd

	// After opMisc.
	miscMemoryInit = 8
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableFill  = 17

	// After opVector.
	vectorConst = 12
)

// traps reports whether an instruction without a prefix can trap on its operands: it
// accesses memory, divides, or truncates a float.
func traps(op byte) bool {
	return op >= opFirstMemory && op <= opLastMemory || op >= 0x6d && op <= 0x70 ||
		op >= 0x7f && op <= 0x82 || op >= 0xa8 && op <= 0xb1
}

// immediates skips the immediates of an opcode and returns the opcode after a prefix. It
// knows the instructions of WebAssembly 2.0 except for those that refer to functions, globals
// and blocks, which the meter reads itself. It fails for others.
func (r *reader) immediates(op byte) (sub uint32) {
	switch {
	case op == 0x01 || op == 0x1a || op == 0x1b || op == 0xd1: // nop, drop, select, ref.is_null
	case op == 0x25 || op == 0x26: // table.get, table.set
		r.u32()
	case op == 0x1c: // select with a type
		if r.byte() != 1 {
			r.fail()
		}
		r.valueType()
	case op >= opFirstMemory && op <= opLastMemory:
		r.memarg()
	case op == 0x3f || op == opMemoryGrow: // memory.size
		r.zero()
	case op == opRefNull:
		r.valueType()
	case op == opI32Const:
		r.leb(maxLEB32)
	case op == opI64Const:
		r.leb(maxLEB64)
	case op == opF32Const:
		r.take(4)
	case op == opF64Const:
		r.take(8)
	case op >= 0x45 && op <= 0xc4: // numeric
	case op == opMisc:
		sub = r.opcode()
		r.miscImmediates(sub)
	case op == opVector:
		sub = r.opcode()
		r.vectorImmediates(sub)
	default:
		r.fail()
	}
	return sub
}

// opcode reads the opcode after a prefix. It must not be padded: wazero reads only its first
// byte for a vector instruction, and takes the next byte for an instruction. For an opcode
// above 127 without padding, that byte is 0x01, nop.
func (r *reader) opcode() uint32 {
	from := r.at
	n := r.u32()
	if r.at-from != size(n) {
		r.fail()
	}
	return n
}

// memarg reads the alignment and the offset of an access to memory.
func (r *reader) memarg() {
	r.u32()
	r.u32()
}

// zero reads the byte that stands for the only memory.
func (r *reader) zero() {
	if r.byte() != 0 {
		r.fail()
	}
}

func (r *reader) miscImmediates(sub uint32) {
	switch sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // conversions that saturate
	case miscMemoryInit:
		r.u32()
		r.zero()
	case miscMemoryCopy:
		r.zero()
		r.zero()
	case miscMemoryFill:
		r.zero()
	case miscTableInit, miscTableCopy:
		r.u32()
		r.u32()
	case 9, 13, miscTableGrow, 16, miscTableFill: // data.drop, elem.drop, table.size
		r.u32()
	default:
		r.fail()
	}
}

func (r *reader) vectorImmediates(sub uint32) {
	switch {
	case sub < vectorConst || sub == 92 || sub == 93: // loads and stores, of zeros too
		r.memarg()
	case sub == vectorConst || sub == 13: // shuffle
		r.take(16)
	case sub >= 21 && sub <= 34: // a lane
		r.byte()
	case sub >= 84 && sub <= 91: // a lane in memory
		r.memarg()
		r.byte()
	case sub <= 255:
	default:
		r.fail()
	}
}
