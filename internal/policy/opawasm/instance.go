package opawasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// instance is a policy with a memory. It does one evaluation at a time.
type instance struct {
	policy api.Module
	memory api.Memory
	host   *host
	data   int32 // address of the data document, which is empty
	heap   int32 // start of the memory that evaluations may use
}

// newInstance returns a new instance in place of the last one.
func (p *Program) newInstance(ctx context.Context) (*instance, error) {
	const policyModule = "policy"
	for _, name := range []string{policyModule, envModule} {
		if last := p.runtime.Module(name); last != nil {
			_ = last.Close(ctx)
		}
	}
	named := func(name string) wazero.ModuleConfig { return wazero.NewModuleConfig().WithName(name) }
	if _, err := p.runtime.InstantiateModule(ctx, p.environment, named(envModule)); err != nil {
		return nil, err
	}
	vm := &instance{host: &p.host}
	p.host.vm, p.host.aborted = vm, nil
	var err error
	if vm.policy, err = p.runtime.InstantiateModule(ctx, p.policy, named(policyModule)); err != nil {
		return nil, err
	}
	if vm.memory = vm.policy.Memory(); vm.memory == nil {
		return nil, errors.New("it has no memory")
	}
	if vm.data, err = vm.store(ctx, ast.ObjectTerm()); err != nil {
		return nil, err
	}
	if err := vm.resolve(ctx, p.lookup); err != nil {
		return nil, err
	}
	vm.heap, err = vm.invoke(ctx, "opa_heap_ptr_get")
	return vm, err
}

// resolve looks up the built-ins that the policy imports, by their numbers.
func (vm *instance) resolve(ctx context.Context, lookup Lookup) error {
	addr, err := vm.invoke(ctx, "builtins")
	if err != nil {
		return err
	}
	list, err := vm.load(ctx, addr)
	if err != nil {
		return err
	}
	names, ok := list.Value.(ast.Object)
	if !ok {
		return errors.New("its list of built-ins is not an object")
	}
	vm.host.builtins = make(map[int32]topdown.BuiltinFunc, names.Len())
	return names.Iter(func(name, id *ast.Term) error {
		s, _ := name.Value.(ast.String)
		n, _ := id.Value.(ast.Number)
		number, ok := n.Int()
		f := lookup(string(s))
		if !ok || f == nil {
			return fmt.Errorf("it calls %v, which is not a built-in", name)
		}
		vm.host.builtins[int32(number)] = f
		return nil
	})
}

// evaluate returns the set of the query's results, or failed if a built-in failed. The
// instance is unusable after err.
func (vm *instance) evaluate(ctx context.Context, input string) (results ast.Set, failed, err error) {
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()
	vm.host.failed, vm.host.aborted = nil, nil
	vm.host.bctx = topdown.BuiltinContext{Context: ctx, Cancel: cancel, Cache: make(builtins.Cache)}
	if need := uint32(vm.heap) + uint32(len(input)); need > vm.memory.Size() {
		if _, ok := vm.memory.Grow((need-vm.memory.Size())/pageBytes + 1); !ok {
			return nil, nil, errors.New("the input does not fit into the policy's memory")
		}
	}
	vm.memory.WriteString(uint32(vm.heap), input)
	const entrypoint, asValue = 0, 1
	free := (vm.heap + int32(len(input)) + 7) &^ 7
	addr, err := vm.invoke(ctx, "opa_eval", 0, entrypoint, vm.data, vm.heap, int32(len(input)), free, asValue)
	if err != nil || vm.host.failed != nil {
		return nil, vm.host.failed, err
	}
	value, err := vm.term(addr)
	if err != nil {
		return nil, nil, err
	}
	results, ok := value.Value.(ast.Set)
	if !ok {
		return nil, nil, errors.New("it returned no results")
	}
	return results, nil, nil
}

// invoke calls an exported function of the policy, and returns its result. After an error the
// state of the instance is undefined.
func (vm *instance) invoke(ctx context.Context, function string, args ...int32) (int32, error) {
	f := vm.policy.ExportedFunction(function)
	if f == nil {
		return 0, fmt.Errorf("it exports no function %s", function)
	}
	params := make([]uint64, len(args))
	for i, arg := range args {
		params[i] = uint64(uint32(arg))
	}
	results, err := f.Call(ctx, params...)
	switch {
	case vm.host.aborted != nil:
		return 0, vm.host.aborted
	case err != nil:
		return 0, err
	default:
		return int32(results[0]), nil
	}
}
