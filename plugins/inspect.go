package plugins

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// Module returns the plugin's module. Do not modify it.
func (p *Plugin) Module() []byte { return p.wasm }

// Survey inspects a module without running it.
func Survey(module []byte) abi.Inspection {
	in := abi.Inspection{Digest: digest.Of(module), Size: len(module)}
	if checkHeader(module) != nil {
		return in
	}
	in.Outline = wasmbin.Survey(module)
	for _, e := range in.Exports {
		if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok && in.ABI != ABI {
			in.ABI = "v" + version
		}
	}
	return in
}

// checkHeader refuses a file that is not a core WebAssembly module. The error names
// the kind of file and the fix.
func checkHeader(data []byte) error {
	if bytes.HasPrefix(data, []byte("\x00asm")) && len(data) >= 8 {
		switch version := binary.LittleEndian.Uint32(data[4:]); version {
		case 1:
			return nil
		case 0x1000d: // A layer of 1, and the version of the current preview.
			return abi.Violation(errs.PluginABI, abi.Component, "the plugin is a WebAssembly component; a core module is needed").
				WithHint("build for WASI preview 1 (wasm32-wasip1 in Rust, GOOS=wasip1 in Go) and do not run wasm-tools component new on the result")
		default:
			return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is WebAssembly of version %#x, which this host does not know", version)
		}
	}
	for _, kind := range fileKinds() {
		if bytes.HasPrefix(data, []byte(kind.magic)) {
			return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is %s and not a WebAssembly module", kind.what).WithHint(kind.hint)
		}
	}
	switch {
	case len(data) == 0:
		return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is an empty file")
	case bytes.HasPrefix(data, []byte("\x00asm")):
		return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is cut short and not a WebAssembly module")
	case utf8.Valid(data):
		return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is a text file and not a WebAssembly module").
			WithHint("name the compiled module, a .wasm file; switchyard plugin new shows how to write one")
	default:
		return abi.Violation(errs.PluginABI, abi.NotWasm, "the plugin is not a WebAssembly module")
	}
}

// fileKind is a kind of file that users mistake for a plugin.
type fileKind struct{ magic, what, hint string }

func fileKinds() []fileKind {
	const native = "a plugin runs in a sandbox and so is WebAssembly: compile its source for wasm32 or GOOS=wasip1"
	const text = "compile it first: wat2wasm FILE.wat, or wasm-tools parse FILE.wat -o FILE.wasm"
	return []fileKind{
		{"\x7fELF", "a native library or program (ELF)", native},
		{"\xfe\xed\xfa\xce", "a native library or program (Mach-O)", native},
		{"\xfe\xed\xfa\xcf", "a native library or program (Mach-O)", native},
		{"\xce\xfa\xed\xfe", "a native library or program (Mach-O)", native},
		{"\xcf\xfa\xed\xfe", "a native library or program (Mach-O)", native},
		{"\xca\xfe\xba\xbe", "a native library or program (Mach-O), or a Java class", native},
		{"MZ", "a native library or program (Windows)", native},
		{"!<arch>\n", "an archive of object files", native},
		{"(module", "WebAssembly in its text format", text},
		{"(component", "a WebAssembly component in its text format", text},
		{"\x1f\x8b", "compressed (gzip)", "unpack it first"},
		{"PK\x03\x04", "compressed (zip)", "unpack it first"},
		{"\x28\xb5\x2f\xfd", "compressed (zstd)", "unpack it first"},
	}
}
