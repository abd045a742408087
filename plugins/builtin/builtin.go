// Package builtin holds the normalizers that come with Switchyard. A folder has
// a guest's source, the module that it compiles to, and the description that
// the module gives of itself; make guests rebuilds the latter two.
package builtin

import "embed"

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

// Names lists the built-in guests by name.
func Names() []string { return []string{"np-critic", "sarif"} }

// Find returns the guest of that name, and whether there is one.
func Find(name string) (Guest, bool) {
	wasm, err := files.ReadFile(name + "/" + name + ".wasm")
	if err != nil {
		return Guest{}, false
	}
	describe, err := files.ReadFile(name + "/describe.json")
	if err != nil {
		return Guest{}, false
	}
	return Guest{Wasm: wasm, Describe: describe}, true
}
