// Package wasmbin reads the binary format of WebAssembly modules. Survey lists a module's
// imports and exports. Meter adds fuel metering, so that the host can stop the module.
package wasmbin

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// headerSize is the length of the magic number and the version, in bytes.
const headerSize = 8

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

// The types of values and functions (WebAssembly core, 5.3).
const (
	typeI32      = 0x7f
	typeFuncref  = 0x70
	typeFunction = 0x60
	typeEmpty    = 0x40
)

// The kinds of imports and exports (WebAssembly core, 5.5.5).
const (
	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
)

// PageSize is the unit of a memory, in bytes.
const PageSize = 64 << 10

// The limits of a module's declarations. wazero allocates memory for declarations before the
// module runs, so a module of a few hundred bytes could exhaust it. A guest of the Go
// toolchain has about 6,000 functions. Its linker makes at most 100,000 data segments.
const (
	maxTypes         = 10_000
	maxValues        = 1_000
	maxImports       = 10_000
	maxFunctions     = 100_000
	maxGlobals       = 10_000
	maxExports       = 10_000
	maxSegments      = 100_000 // of elements, and of data
	maxLocals        = 10_000
	maxTableElements = 1 << 20
)

// Error is the reason why a module cannot be metered.
type Error struct {
	// What describes the problem, as a predicate: "declares 200000 functions; …".
	What string
	// Limit is the limit that the module exceeds, 0 if it is malformed.
	Limit uint64
}

// Error implements error.
func (e *Error) Error() string { return "the module " + e.What }

func errMalformed(what string) error { return &Error{What: "is malformed in " + what} }

// reader reads the binary format of WebAssembly 2.0 (WebAssembly core, 5). At the end of
// the data, or after a malformed value, it sets bad and returns zeros. It returns views of
// the data.
type reader struct {
	data []byte
	at   int // the offset of the next read
	bad  bool
	why  error // nil if bad data is malformed
}

// more reports whether there is more to read.
func (r *reader) more() bool { return !r.bad && r.at < len(r.data) }

// fail marks the data as malformed and ends the reading.
func (r *reader) fail() {
	r.bad, r.at = true, len(r.data)
}

// refuse ends the reading with an error, unless it has ended already.
func (r *reader) refuse(err error) {
	if !r.bad {
		r.fail()
		r.why = err
	}
}

// atMost refuses a number above a limit.
func (r *reader) atMost(n, limit uint64, what string) {
	if n > limit {
		r.refuse(&Error{What: fmt.Sprintf("declares %d %s; the limit is %d", n, what, limit), Limit: limit})
	}
}

// finish returns an error if the data was not read to its end, and no further.
func (r *reader) finish(what string) error {
	if r.bad || r.more() {
		return cmp.Or(r.why, errMalformed(what))
	}
	return nil
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

// The maximum length of a LEB128 with 32 (or 33) and with 64 bits, in bytes.
const (
	maxLEB32 = 5
	maxLEB64 = 10
)

// leb reads a LEB128 of a maximum length. It returns the number without sign extension, and
// its number of bits.
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

// below reads an unsigned LEB128 that must be less than limit.
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

// count reads the length of a vector.
func (r *reader) count(limit uint64, what string) uint32 {
	n := r.u32()
	r.atMost(uint64(n), limit, what)
	return n
}

func (r *reader) each(n uint32, entry func()) {
	for ; n > 0 && !r.bad; n-- {
		entry()
	}
}

// valueType reads the type of a value. The types of WebAssembly 2.0 have one byte; wazero also
// reads longer types.
func (r *reader) valueType() {
	if valueTypeName(r.byte()) == "" {
		r.fail()
	}
}

func (r *reader) valueTypes() []byte {
	n := r.u32()
	from := r.at
	r.each(n, r.valueType)
	return r.data[from:r.at]
}

// limits reads the limits of a table or memory. most is nil without a maximum.
func (r *reader) limits() (least uint32, most *uint32) {
	bounded := r.below(2) == 1
	least = r.u32()
	if bounded {
		n := r.u32()
		most = &n
	}
	return least, most
}

// size returns the length of a number as LEB128, in bytes.
func size(n uint32) int { return (bits.Len32(n|1) + 6) / 7 }
