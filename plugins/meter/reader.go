package meter

import "math"

// reader reads the binary format (WebAssembly core, 5). After its end, and
// behind anything malformed, it reads zeros and is bad.
type reader struct {
	data []byte
	at   int
	bad  bool
}

func (r *reader) more() bool { return !r.bad && r.at < len(r.data) }

// whole reports whether everything has been read, and nothing was bad.
func (r *reader) whole() bool { return !r.bad && r.at == len(r.data) }

func (r *reader) fail() {
	r.bad, r.at = true, len(r.data)
}

func (r *reader) byte() byte {
	if r.at >= len(r.data) {
		r.fail()
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

// The longest LEB128 of 32 and of 64 bits, in bytes; one of 33 bits is no longer
// than one of 32.
const (
	maxLEB32 = 5
	maxLEB64 = 10
)

// leb reads a LEB128 of at most so many bytes, and returns it without its sign
// extended, and how many bits it has.
func (r *reader) leb(most int) (n uint64, bits int) {
	for i := range most {
		b := r.byte()
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n, 7 * (i + 1)
		}
	}
	r.fail()
	return 0, 0
}

// u32 reads an unsigned LEB128 of at most 32 bits.
func (r *reader) u32() uint32 { return r.below(math.MaxUint32 + 1) }

// below reads an unsigned LEB128 that has to be less than limit.
func (r *reader) below(limit uint64) uint32 {
	n, _ := r.leb(maxLEB32)
	if n >= limit {
		r.fail()
		return 0
	}
	return uint32(n)
}

// s33 reads a signed LEB128 of at most 33 bits.
func (r *reader) s33() int64 {
	n, bits := r.leb(maxLEB32)
	return int64(n<<(64-bits)) >> (64 - bits)
}

// skip passes over a LEB128 whose value does not matter.
func (r *reader) skip(most int) { r.leb(most) }

// take returns a view of the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)-r.at) {
		r.fail()
		return nil
	}
	taken := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return taken
}

// bytes returns a view of a vector of bytes.
func (r *reader) bytes() []byte { return r.take(r.u32()) }

// valueType reads the type of a value. Only those of WebAssembly 2.0 take one
// byte; wazero reads longer ones too.
func (r *reader) valueType() {
	switch r.byte() {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncref, typeExternref:
	default:
		r.fail()
	}
}

// valueTypes reads a vector of types, and returns how many they are.
func (r *reader) valueTypes() uint32 {
	n := r.u32()
	for i := n; i > 0 && !r.bad; i-- {
		r.valueType()
	}
	return n
}

// limits reads how large something is at first, and passes over how large it may
// become.
func (r *reader) limits() uint32 {
	bounded := r.below(2) == 1
	least := r.u32()
	if bounded {
		r.u32()
	}
	return least
}
