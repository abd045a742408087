package wasmbin_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

func read(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// input is a report with a configuration, in the form that guests get.
type input struct{ report, config string }

// inputs are the reports for all guests, some of which they refuse.
func inputs(t testing.TB) []input {
	t.Helper()
	texts := []string{`null`, `{}`, `[]`, `{"findings":[{}]}`, `[{"a":[1,2,3]}]`, sarif(3), "{", `"\ud83d\ude00"`}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "reports", "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if data := read(t, file); len(data) < 100<<10 {
			texts = append(texts, string(data))
		}
	}
	var all []input
	for _, text := range texts {
		all = append(all, input{text, "{}"}, input{text, `{"categories":{"default":"x"}}`})
	}
	return all
}

// sarif is a log of so many results.
func sarif(results int) string {
	one := func(i int) string {
		return fmt.Sprintf(`{"ruleId":"R%d","level":"warning","message":{"text":"A message about line %d"},`+
			`"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/file%d.go"},"region":{"startLine":%d}}}]}`, i%50, i, i%300, i+1)
	}
	all := make([]string, results)
	for i := range all {
		all[i] = one(i)
	}
	return `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"bench","rules":[]}},"results":[` + strings.Join(all, ",") + `]}]}`
}

// sameInAllWays has a guest read inputs in every way, and compares the answers.
func sameInAllWays(t *testing.T, module []byte, inputs []input) {
	t.Helper()
	want := make([]string, len(inputs))
	for i, w := range ways() {
		h := newHost(t, w)
		compiled, err := h.compile(module)
		if err != nil {
			t.Fatal(err)
		}
		for j, in := range inputs {
			got := ""
			guest, err := h.instantiate(compiled)
			if err == nil {
				var answer []byte
				answer, err = normalize(t.Context(), guest, []byte(in.report), []byte(in.config))
				got = string(answer)
				_ = guest.Close(t.Context())
			}
			if err != nil {
				got, _, _ = strings.Cut(err.Error(), "\n")
			}
			if i == 0 {
				want[j] = got
			}
			if got != want[j] {
				t.Fatalf("%s: %.80s: got %.200q, want %.200q", w, in.report, got, want[j])
			}
		}
	}
}

func TestBuiltInGuestsDoTheSame(t *testing.T) {
	for _, name := range builtin.Names() {
		t.Run(name, func(t *testing.T) {
			guest, ok := builtin.Find(name)
			if !ok {
				t.Fatal("it is not embedded")
			}
			sameInAllWays(t, guest.Wasm, inputs(t))
		})
	}
}

func TestHostileGuestsDoTheSame(t *testing.T) {
	do := func(all ...string) []input {
		inputs := make([]input, len(all))
		for i, word := range all {
			inputs[i] = input{`{"findings":[]}`, `{"do":"` + word + `","answer":{"critic":"@"}}`}
		}
		return inputs
	}
	all := hostiles(t)
	sameInAllWays(t, all["puppet"], do("answer", "echoes", "before", "scrawl", "waited", "trap", "huge", "outside", "nothing", "vast", "zero"))
	sameInAllWays(t, all["storm"], do("luck", "exit"))
	for _, name := range []string{"alloc-null", "alloc-outside", "alloc-twice", "describe-garbage", "impostor"} {
		sameInAllWays(t, all[name], do("answer"))
	}
}

// goGuest is a plugin of the Go toolchain that makes use of much of it.
const goGuest = `package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unsafe"
)

var kept [][]byte

//go:wasmexport sy_alloc
func alloc(size uint32) uint32 {
	block := make([]byte, size+1)
	kept = append(kept, block)
	return uint32(uintptr(unsafe.Pointer(&block[0])))
}

//go:wasmexport sy_normalize
func normalize(report, reportLen, config, configLen uint32) uint64 {
	var v any
	err := json.Unmarshal(unsafe.Slice((*byte)(unsafe.Pointer(uintptr(report))), reportLen), &v)
	words := strings.Fields(regexp.MustCompile("[^a-z]+").ReplaceAllString(fmt.Sprint(v, err), " "))
	sort.Strings(words)
	c := make(chan string)
	go func() {
		defer close(c)
		for _, w := range words {
			c <- w
		}
	}()
	answer := []byte{' '}
	for w := range c {
		answer = append(answer, w...)
	}
	kept = append(kept, answer)
	return uint64(uintptr(unsafe.Pointer(&answer[0])))<<32 | uint64(len(answer))
}

func main() {}
`

func TestGoGuestsDoTheSame(t *testing.T) {
	exhaustive.Require(t, "a guest of the Go toolchain is compiled in every way; the built-in guests are always")
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": goGuest, "go.mod": "module guest\n\ngo 1.26.0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", "guest.wasm")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module := read(t, dir, "guest.wasm")
	sameInAllWays(t, module, []input{{sarif(50), "{}"}, {`{"a":["b",1e3,null]}`, "{}"}, {"{", "{}"}})
}

// BenchmarkDeadline compares the cost of our deadline with wazero's, and with a guest without a
// deadline.
func BenchmarkDeadline(b *testing.B) {
	for _, c := range []struct{ plugin, name, report string }{
		{"np-critic", "20 findings", string(read(b, "..", "..", "testdata", "reports", "twenty.json"))},
		{"sarif", "25000 results", sarif(25_000)},
	} {
		guest, ok := builtin.Find(c.plugin)
		if !ok {
			b.Fatal("it is not built")
		}
		for _, w := range []struct {
			name string
			way  way
		}{{"plain", way{}}, {"metered", way{metered: true, quantum: wasmbin.Quantum}}, {"closing", way{closing: true}}} {
			b.Run(c.name+"/"+w.name, func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				h := newHost(b, w.way)
				compiled, err := h.compile(guest.Wasm)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(c.report)))
				for b.Loop() {
					instance, err := h.instantiate(compiled)
					if err != nil {
						b.Fatal(err)
					}
					answer, err := normalize(ctx, instance, []byte(c.report), []byte("{}"))
					if err != nil || bytes.Contains(answer[:20], []byte("error")) {
						b.Fatal(err, string(answer[:100]))
					}
					_ = instance.Close(ctx)
				}
			})
		}
	}
}

// BenchmarkMeter measures the metering of a module.
func BenchmarkMeter(b *testing.B) {
	guest, _ := builtin.Find("sarif")
	b.SetBytes(int64(len(guest.Wasm)))
	for b.Loop() {
		if _, err := wasmbin.Meter(guest.Wasm); err != nil {
			b.Fatal(err)
		}
	}
}
