// Package builtin embeds the normalizers that come with Switchyard. Each directory has a
// guest's source, its module, and the module's description of itself. make guests rebuilds
// the latter two.
package builtin

import (
	"embed"
	"path"
)

//go:embed */*.wasm */describe.json
var files embed.FS

// Guest is a built-in normalizer.
type Guest struct {
	// Wasm is the module. Do not modify it.
	Wasm []byte
	// Describe is the answer of its sy_describe, so that a report's format can be detected
	// without running every guest.
	Describe []byte
}

// Names lists the built-in guests by name, in byte order.
func Names() []string {
	var names []string
	entries, _ := files.ReadDir(".") // It is embedded.
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Find returns the guest of that name, and whether there is one.
func Find(name string) (Guest, bool) {
	wasm, errWasm := files.ReadFile(path.Join(name, name+".wasm"))
	describe, errDescribe := files.ReadFile(path.Join(name, "describe.json"))
	return Guest{Wasm: wasm, Describe: describe}, errWasm == nil && errDescribe == nil
}
