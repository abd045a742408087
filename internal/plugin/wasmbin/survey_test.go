package wasmbin_test

import (
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
	all := hostiles(t)
	for _, name := range builtin.Names() {
		guest, _ := builtin.Find(name)
		all[name] = guest.Wasm
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
	const params, exports = 1000, 1000
	in := wasmbin.Survey(wasm(
		section(1, vector("\x60"+number(params)+strings.Repeat("\x7f", params)+"\x00")),
		functions("\x00"),
		section(7, number(exports)+strings.Repeat(sized("f")+"\x00\x00", exports)),
	))
	if len(in.Exports) != exports || len(in.Exports[0].Type) > 200 || !strings.Contains(in.Exports[0].Type, "984 more") {
		t.Errorf("%d exports, the first %.300v", len(in.Exports), in.Exports)
	}
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
