//go:build wasip1

package sdk

import "unsafe"

// blocks maps addresses to the memory that the host and this module pass to each other. It
// keeps the memory alive, and Go's collector does not move it.
var blocks = make(map[unsafe.Pointer][]byte)

//go:wasmexport switchyard_abi_v1
func marker() {}

//go:wasmexport sy_alloc
func alloc(size uint32) unsafe.Pointer {
	// With one more byte, an empty block also has an address of its own.
	return hold(make([]byte, size, int(size)+1))
}

//go:wasmexport sy_describe
func exportDescribe() uint64 {
	return pack(describe())
}

//go:wasmexport sy_normalize
func exportNormalize(report unsafe.Pointer, reportLen uint32, config unsafe.Pointer, configLen uint32) uint64 {
	return pack(respond(blocks[report][:reportLen], blocks[config][:configLen]))
}

func hold(block []byte) unsafe.Pointer {
	at := unsafe.Pointer(unsafe.SliceData(block))
	blocks[at] = block
	return at
}

// pack returns an answer's address in the upper 32 bits and its length in the lower ones.
func pack(answer []byte) uint64 {
	return uint64(uintptr(hold(answer)))<<32 | uint64(len(answer))
}
