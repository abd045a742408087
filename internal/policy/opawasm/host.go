package opawasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// host implements a policy's calls, for one evaluation at a time.
type host struct {
	vm       *instance
	builtins map[int32]topdown.BuiltinFunc
	bctx     topdown.BuiltinContext

	failed  error // the first failure of a built-in in this evaluation
	aborted error // why the evaluation was aborted
}

// function is a function that a policy imports. All values are i32.
type function struct {
	name    string
	params  int
	results int
	call    api.GoFunc
}

// functions lists the functions that a policy imports. The parameters of opa_builtin0 to
// opa_builtin4 are the number of the built-in, an unused context, and the arguments.
func (h *host) functions() []function {
	all := []function{
		{"opa_abort", 1, 0, func(_ context.Context, stack []uint64) { h.abort(int32(stack[0])) }},
		{"opa_println", 1, 0, func(context.Context, []uint64) {}}, // output is discarded
	}
	for n := range 5 {
		all = append(all, function{fmt.Sprintf("opa_builtin%d", n), 2 + n, 1, func(ctx context.Context, stack []uint64) {
			stack[0] = uint64(uint32(h.call(ctx, int32(stack[0]), stack[2:2+n])))
		}})
	}
	return all
}

// instantiate provides the functions to modules of r.
func (h *host) instantiate(ctx context.Context, r wazero.Runtime) error {
	builder := r.NewHostModuleBuilder(hostModule)
	for _, f := range h.functions() {
		i32s := func(n int) []api.ValueType { return slices.Repeat([]api.ValueType{api.ValueTypeI32}, n) }
		builder.NewFunctionBuilder().WithGoFunction(f.call, i32s(f.params), i32s(f.results)).Export(f.name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// breakOff ends the evaluation. The panic unwinds the policy's stack, and the runtime
// turns it into an error of the call.
func (h *host) breakOff(err error) {
	h.aborted = err
	panic(err)
}

// abort is called by a policy that cannot continue: two of its rules conflict, or its
// memory is full.
func (h *host) abort(addr int32) {
	h.breakOff(errors.New(h.vm.text(addr)))
}

// call runs a built-in. If it fails, the policy gets no result and the whole evaluation
// fails in the end, as in OPA's evaluator in strict mode.
func (h *host) call(ctx context.Context, id int32, addrs []uint64) int32 {
	args := make([]*ast.Term, len(addrs))
	for i, addr := range addrs {
		arg, err := h.vm.load(ctx, int32(addr))
		if err != nil {
			h.breakOff(err)
		}
		args[i] = arg
	}
	var result *ast.Term
	err := h.builtins[id](h.bctx, args, func(t *ast.Term) error {
		result = t
		return nil
	})
	if halt, ok := errors.AsType[topdown.Halt](err); ok {
		h.breakOff(halt.Err)
	}
	if err != nil && h.failed == nil {
		h.failed = err
	}
	if err != nil || result == nil {
		return 0
	}
	addr, err := h.vm.store(ctx, result)
	if err != nil {
		h.breakOff(err)
	}
	return addr
}

// text reads a zero-terminated string.
func (vm *instance) text(addr int32) string {
	data, _ := vm.memory.Read(uint32(addr), vm.memory.Size()-uint32(addr))
	text, _, _ := bytes.Cut(data, []byte{0})
	return string(text)
}

// load reads a value from the policy's memory.
func (vm *instance) load(ctx context.Context, addr int32) (*ast.Term, error) {
	dump, err := vm.invoke(ctx, "opa_value_dump", addr)
	if err != nil {
		return nil, err
	}
	return vm.term(dump)
}

// term reads a value in text form.
func (vm *instance) term(addr int32) (*ast.Term, error) {
	text := vm.text(addr)
	if len(text) > maxTextBytes {
		return nil, fmt.Errorf("a value is longer than %d bytes", maxTextBytes)
	}
	return ast.ParseTerm(text)
}

// store writes a value to the policy's memory.
func (vm *instance) store(ctx context.Context, t *ast.Term) (int32, error) {
	text := jsonEscapes.Replace(t.String())
	addr, err := vm.invoke(ctx, "opa_malloc", int32(len(text)))
	if err != nil {
		return 0, err
	}
	if !vm.memory.WriteString(uint32(addr), text) {
		return 0, fmt.Errorf("%d bytes do not fit into the policy's memory", len(text))
	}
	value, err := vm.invoke(ctx, "opa_value_parse", addr, int32(len(text)))
	if err == nil && value == 0 {
		err = errors.New("the policy cannot read a value that a built-in function returned")
	}
	return value, err
}

// jsonEscapes replaces the escapes of Go for ASCII that JSON does not have: a policy cannot
// read them.
var jsonEscapes = strings.NewReplacer(`\\`, `\\`, `\a`, `\u0007`, `\v`, `\u000b`, `\x0`, `\u000`, `\x1`, `\u001`, `\x7`, `\u007`)

// The names that a compiled policy imports, all of them from module "env".
const (
	envModule  = "env"
	hostModule = "opa"
)

// The parts of the WebAssembly binary format that are used here.
const (
	sectionType, sectionImport, sectionMemory, sectionExport = 1, 2, 5, 7

	typeI32, typeFunc             = 0x7f, 0x60
	externFunc, externMemory      = 0, 2
	limitsWithMaximum        byte = 1
)

// environment returns the module from which a policy imports its memory and the host's
// functions. A policy expects both under one module name, but in wazero a memory comes from
// a compiled module and Go functions come from a host module: this module defines the
// memory, imports the functions, and exports both. A page has 64 KiB.
func environment(functions []function, minPages, maxPages uint32) []byte {
	count := uint64(len(functions))

	types, imports := uleb(count), uleb(count)
	exports := slices.Concat(uleb(count+1), name("memory"), []byte{externMemory, 0})
	i32s := func(n int) []byte { return append(uleb(uint64(n)), bytes.Repeat([]byte{typeI32}, n)...) }
	for i, f := range functions {
		types = slices.Concat(types, []byte{typeFunc}, i32s(f.params), i32s(f.results))
		imports = slices.Concat(imports, name(hostModule), name(f.name), []byte{externFunc, byte(i)})
		exports = slices.Concat(exports, name(f.name), []byte{externFunc, byte(i)})
	}
	memory := slices.Concat(uleb(1), []byte{limitsWithMaximum}, uleb(uint64(minPages)), uleb(uint64(maxPages)))
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(sectionType, types), section(sectionImport, imports), section(sectionMemory, memory), section(sectionExport, exports))
}

func section(id byte, content []byte) []byte {
	return slices.Concat([]byte{id}, uleb(uint64(len(content))), content)
}

func name(s string) []byte { return append(uleb(uint64(len(s))), s...) }

// uleb returns n in LEB128, which Go calls uvarint.
func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }
