package wasmbin

// HeaderSize is the length of the magic number and the version, in bytes.
const HeaderSize = 8

// The sections of a module (WebAssembly core, 5.5.2).
const (
	SectionCustom    = 0
	SectionType      = 1
	SectionImport    = 2
	SectionFunction  = 3
	SectionTable     = 4
	SectionMemory    = 5
	SectionGlobal    = 6
	SectionExport    = 7
	SectionStart     = 8
	SectionElement   = 9
	SectionCode      = 10
	SectionData      = 11
	SectionDataCount = 12
)

// The types of values and functions (WebAssembly core, 5.3).
const (
	TypeI32       = 0x7f
	TypeI64       = 0x7e
	TypeF32       = 0x7d
	TypeF64       = 0x7c
	TypeV128      = 0x7b
	TypeFuncref   = 0x70
	TypeExternref = 0x6f
	TypeFunction  = 0x60
	TypeEmpty     = 0x40
)

// The kinds of imports and exports (WebAssembly core, 5.5.5).
const (
	KindFunction = 0
	KindTable    = 1
	KindMemory   = 2
	KindGlobal   = 3
)

// PageSize is the unit of a memory, in bytes.
const PageSize = 64 << 10
