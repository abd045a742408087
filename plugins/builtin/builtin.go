// Package builtin holds the normalizers that come with Switchyard. A folder has
// a guest's source, the module that it compiles to, and the description that
// the module gives of itself; make guests rebuilds the latter two.
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
	// Describe is what its sy_describe answers, so that a report's format can
	// be told without running every guest.
	Describe []byte
}

// Names lists the built-in guests by name, in byte order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Find returns the guest of that name, and whether there is one.
func Find(name string) (Guest, bool) {
	wasm, err := files.ReadFile(path.Join(name, name+".wasm"))
	if err != nil {
		return Guest{}, false
	}
	describe, err := files.ReadFile(path.Join(name, "describe.json"))
	if err != nil {
		return Guest{}, false
	}
	return Guest{Wasm: wasm, Describe: describe}, true
}
