package fuel

import "github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"

// reader reads a module of WebAssembly 2.0.
type reader struct{ wasmbin.Reader }

func newReader(data []byte) reader { return reader{wasmbin.Reader{Data: data}} }

// valueType reads the type of a value. Only those of WebAssembly 2.0 take one
// byte; wazero reads longer ones too.
func (r *reader) valueType() {
	switch r.Byte() {
	case wasmbin.TypeI32, wasmbin.TypeI64, wasmbin.TypeF32, wasmbin.TypeF64, wasmbin.TypeV128, wasmbin.TypeFuncref, wasmbin.TypeExternref:
	default:
		r.Fail()
	}
}

// valueTypes reads a vector of types and returns its length.
func (r *reader) valueTypes() uint32 {
	n := r.U32()
	for i := n; i > 0 && !r.Bad; i-- {
		r.valueType()
	}
	return n
}

// limits reads the limits of a table or memory and returns the minimum.
func (r *reader) limits() uint32 {
	bounded := r.Below(2) == 1
	least := r.U32()
	if bounded {
		r.U32()
	}
	return least
}
