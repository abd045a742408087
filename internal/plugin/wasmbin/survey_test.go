package wasmbin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// surveyed returns the built-in and the hostile guests, by name.
func surveyed(t testing.TB) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	for _, name := range builtin.Names() {
		guest, _ := builtin.Find(name)
		all[name] = guest.Wasm
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "plugins", "testdata", "hostile", "*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no modules: %v", err)
	}
	for _, file := range files {
		if all[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestSurveyAgreesWithTheCompiler checks Survey against wazero.
func TestSurveyAgreesWithTheCompiler(t *testing.T) {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(t.Context())
	compared := 0
	for name, module := range surveyed(t) {
		compiled, err := r.CompileModule(t.Context(), module)
		if err != nil {
			continue // It is malformed, at least in part.
		}
		compared++
		var want, got []string
		for export := range compiled.ExportedFunctions() {
			want = append(want, export)
		}
		for _, i := range compiled.ImportedFunctions() {
			from, what, _ := i.Import()
			want = append(want, from+"."+what)
		}
		in := wasmbin.Survey(module)
		for _, e := range in.Exports {
			if e.Kind == "function" {
				got = append(got, e.Name)
			}
		}
		for _, i := range in.Imports {
			if i.Kind == "function" {
				got = append(got, i.Module+"."+i.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		for export, m := range compiled.ExportedMemories() {
			if in.Memory == nil || in.Memory.Minimum != int64(m.Min())<<16 {
				t.Errorf("%s: %s is %+v, want %d pages", name, export, in.Memory, m.Min())
			}
		}
	}
	if compared < 10 {
		t.Errorf("only %d modules were compared", compared)
	}
}

// TestSurveyBoundsTypes exports a function with many parameters many times: the size of
// the result must not grow with their product.
func TestSurveyBoundsTypes(t *testing.T) {
	section := func(id byte, body string) string { return string(id) + lebOf(len(body)) + body }
	const params, exports = 1 << 20, 1000
	module := "\x00asm\x01\x00\x00\x00" +
		section(1, "\x01\x60"+lebOf(params)+strings.Repeat("\x7f", params)+"\x00") +
		section(3, "\x01\x00") +
		section(7, lebOf(exports)+strings.Repeat("\x01f\x00\x00", exports))
	in := wasmbin.Survey([]byte(module))
	if len(in.Exports) != exports || len(in.Exports[0].Type) > 200 || !strings.Contains(in.Exports[0].Type, "1048560 more") {
		t.Errorf("%d exports, the first %.300v", len(in.Exports), in.Exports)
	}
}

func lebOf(n int) string {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return string(append(b, byte(n)))
}

// FuzzSurvey gives Survey arbitrary bytes.
func FuzzSurvey(f *testing.F) {
	for _, module := range surveyed(f) {
		if len(module) < 1<<12 {
			f.Add(module)
		}
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		in := wasmbin.Survey(module)
		if len(in.Imports)+len(in.Exports) > len(module) {
			t.Errorf("%d bytes hold %d imports and %d exports", len(module), len(in.Imports), len(in.Exports))
		}
	})
}
