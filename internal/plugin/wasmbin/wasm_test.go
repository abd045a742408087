package wasmbin_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	wasi "github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
)

// A module by hand. Bytes are strings here, because they are short to write.

func number(n uint64) string { return string(binary.AppendUvarint(nil, n)) }

func sized(s string) string { return number(uint64(len(s))) + s }

func vector(entries ...string) string {
	return number(uint64(len(entries))) + strings.Join(entries, "")
}

func section(id byte, content string) string { return string([]byte{id}) + sized(content) }

// body is a function's code, with its local variables as they are declared.
func body(locals, code string) string { return sized(locals + code + "\x0b") }

func wasm(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

// The parts that most modules share: types 0 to 2 are () -> (), () -> i32 and
// i32 -> i32.
var (
	types  = section(1, vector("\x60\x00\x00", "\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f"))
	memory = section(5, "\x01\x00\x01")
)

func functions(types string) string { return section(3, sized(types)) }

func code(bodies ...string) string { return section(10, vector(bodies...)) }

func export(name string, index byte) string {
	return section(7, vector(sized(name)+"\x00"+string([]byte{index})))
}

// way is one way to run a module.
type way struct {
	metered   bool
	interpret bool
	quantum   uint64 // what a tick grants
	closing   bool   // wazero looks at the context
}

func (w way) String() string {
	return fmt.Sprintf("metered %t, interpreted %t, quantum %d", w.metered, w.interpret, w.quantum)
}

func ways() []way {
	return []way{{}, {interpret: true}, {metered: true, quantum: wasmbin.Quantum}, {metered: true, quantum: 1}, {metered: true, interpret: true, quantum: 1}}
}

// host is a runtime with the imports of guests.
type host struct {
	wazero.Runtime
	way   way
	ticks int
	fail  error // what the next tick panics with
}

func newHost(t testing.TB, w way) *host {
	t.Helper()
	config := wazero.NewRuntimeConfigCompiler()
	if w.interpret {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	ctx := context.Background()
	config = config.WithCloseOnContextDone(w.closing).WithDebugInfoEnabled(false).
		WithCoreFeatures(api.CoreFeaturesV2 &^ api.CoreFeatureReferenceTypes)
	h := &host{Runtime: wazero.NewRuntimeWithConfig(ctx, config), way: w}
	t.Cleanup(func() { _ = h.Close(ctx) })
	tick := api.GoFunc(func(_ context.Context, stack []uint64) {
		h.ticks++
		if h.fail != nil {
			panic(h.fail)
		}
		stack[0] = w.quantum
	})
	_, err := h.NewHostModuleBuilder(wasmbin.TickModule).
		NewFunctionBuilder().WithGoFunction(tick, nil, []api.ValueType{api.ValueTypeI32}).Export(wasmbin.TickFunction).
		Instantiate(ctx)
	if err == nil {
		_, err = wasi.Instantiate(ctx, h.Runtime)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// compile compiles a module in the host's way.
func (h *host) compile(module []byte) (wazero.CompiledModule, error) {
	if h.way.metered {
		var err error
		if module, err = wasmbin.Meter(module); err != nil {
			return nil, err
		}
	}
	return h.CompileModule(context.Background(), module)
}

func (h *host) instantiate(compiled wazero.CompiledModule) (api.Module, error) {
	return h.InstantiateModule(context.Background(), compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
}

func (h *host) load(module []byte) (api.Module, error) {
	compiled, err := h.compile(module)
	if err != nil {
		return nil, err
	}
	return h.instantiate(compiled)
}

// normalize has a guest of the ABI read a report.
func normalize(ctx context.Context, guest api.Module, report, config []byte) ([]byte, error) {
	give := func(data []byte) (uint64, error) {
		at, err := guest.ExportedFunction("sy_alloc").Call(ctx, uint64(len(data)))
		if err != nil {
			return 0, err
		}
		if !guest.Memory().Write(uint32(at[0]), data) {
			return 0, errors.New("outside of memory")
		}
		return at[0], nil
	}
	r, err := give(report)
	if err != nil {
		return nil, err
	}
	c, err := give(config)
	if err != nil {
		return nil, err
	}
	packed, err := guest.ExportedFunction("sy_normalize").Call(ctx, r, uint64(len(report)), c, uint64(len(config)))
	if err != nil {
		return nil, err
	}
	answer, ok := guest.Memory().Read(uint32(packed[0]>>32), uint32(packed[0]))
	if !ok {
		return nil, errors.New("outside of memory")
	}
	return bytes.Clone(answer), nil
}
