// Package wasmbin reads the binary format of WebAssembly modules, as far as the host
// needs it, and lists a module's imports and exports.
package wasmbin

import "math"

// Reader reads the binary format (WebAssembly core, 5). At the end of Data, or after a
// malformed value, it sets Bad and returns zeros. It returns views of Data.
type Reader struct {
	Data []byte
	// At is the offset of the next read.
	At  int
	Bad bool
}

// More reports whether there is more to read.
func (r *Reader) More() bool { return !r.Bad && r.At < len(r.Data) }

// Whole reports whether everything was read without an error.
func (r *Reader) Whole() bool { return !r.Bad && r.At == len(r.Data) }

// Fail marks the data as malformed and ends the reading.
func (r *Reader) Fail() {
	r.Bad, r.At = true, len(r.Data)
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if r.At >= len(r.Data) {
		r.Fail()
		return 0
	}
	b := r.Data[r.At]
	r.At++
	return b
}

// The maximum length of a LEB128 with 32 and with 64 bits, in bytes; 33 bits need no more
// than 32.
const (
	MaxLEB32 = 5
	MaxLEB64 = 10
)

// LEB reads a LEB128 of at most that many bytes, and returns it without sign extension,
// with its number of bits.
func (r *Reader) LEB(most int) (n uint64, bits int) {
	for i := range most {
		b := r.Byte()
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return n, 7 * (i + 1)
		}
	}
	r.Fail()
	return 0, 0
}

// U32 reads an unsigned LEB128 of at most 32 bits.
func (r *Reader) U32() uint32 { return r.Below(math.MaxUint32 + 1) }

// Below reads an unsigned LEB128 that must be less than limit.
func (r *Reader) Below(limit uint64) uint32 {
	n, _ := r.LEB(MaxLEB32)
	if n >= limit {
		r.Fail()
		return 0
	}
	return uint32(n)
}

// S33 reads a signed LEB128 of at most 33 bits.
func (r *Reader) S33() int64 {
	n, bits := r.LEB(MaxLEB32)
	return int64(n<<(64-bits)) >> (64 - bits)
}

// Skip skips a LEB128.
func (r *Reader) Skip(most int) { r.LEB(most) }

// Take returns a view of the next n bytes.
func (r *Reader) Take(n uint32) []byte {
	if uint64(n) > uint64(len(r.Data)-r.At) {
		r.Fail()
		return nil
	}
	taken := r.Data[r.At : r.At+int(n)]
	r.At += int(n)
	return taken
}

// Bytes returns a view of a vector of bytes.
func (r *Reader) Bytes() []byte { return r.Take(r.U32()) }
