// Package opawasm runs policies that OPA has compiled to WebAssembly.
//
// OPA's own host is for long-lived servers: its instances may use 4 GiB of memory each
// and are never freed, and a failing built-in is merely undefined. This host limits an
// instance to 64 MiB, is freed with the policy, and fails an evaluation in which a
// built-in failed, as OPA's evaluator does in strict mode.
package opawasm

import (
	"cmp"
	"context"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/codecache"
)

const (
	pageBytes = 64 << 10
	// maxPages bounds the memory of an instance. A short policy uses half a megabyte.
	maxPages = 1024
	// basePages is the initial memory of an instance, in addition to the policy's data.
	basePages = 16
	// maxTextBytes bounds a value read as text from the policy's memory: parsing it takes
	// some hundred times as much memory outside.
	maxTextBytes = 4 << 20
)

// Lookup returns the built-in with a name, or nil.
type Lookup func(name string) topdown.BuiltinFunc

// Program is a compiled policy, ready to be evaluated. It is safe for concurrent use, and
// does one evaluation at a time. The garbage collector frees it.
type Program struct {
	lookup      Lookup
	runtime     wazero.Runtime
	environment wazero.CompiledModule
	policy      wazero.CompiledModule
	host        host

	mu sync.Mutex
	vm *instance // nil if the next evaluation must make a new one
}

// New compiles a policy in OPA's WebAssembly ABI, whose first entrypoint is the query, to
// machine code, or loads that code from below cacheDir (package codecache); "" disables
// the cache on disk. lookup finds the built-ins that are not part of the policy; it must
// be safe for concurrent use.
func New(ctx context.Context, code []byte, lookup Lookup, cacheDir string) (*Program, error) {
	p := &Program{lookup: lookup}
	err := codecache.Compile(ctx, cacheDir, code, func(cache wazero.CompilationCache) (err error) {
		p.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
			WithCompilationCache(cache).
			WithMemoryLimitPages(maxPages).
			WithCloseOnContextDone(true))
		minPages := min(basePages+uint32(len(code))/pageBytes, maxPages)
		if p.environment, err = p.runtime.CompileModule(ctx, environment(p.host.functions(), minPages, maxPages)); err != nil {
			return err
		}
		p.policy, err = p.runtime.CompileModule(ctx, code)
		return err
	})
	if err == nil {
		err = p.host.instantiate(ctx, p.runtime)
	}
	if err == nil {
		p.vm, err = p.newInstance(ctx)
	}
	return p, err
}

// Eval evaluates the query for an input in Rego notation, of which JSON is a subset, and
// returns the set of its results. It ends with ctx, even within a loop, but not within a
// built-in that ignores ctx.
//
// # Errors
//
// The error of an ended ctx, the error of a built-in, or the reason why the policy aborted:
// its rules conflict, or its memory is full.
func (p *Program) Eval(ctx context.Context, input string) (results ast.Set, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	vm := p.vm
	p.vm = nil // reused only after an evaluation without err
	if vm == nil {
		vm, err = p.newInstance(ctx)
	}
	var failed error
	if err == nil {
		results, failed, err = vm.evaluate(ctx, input)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	p.vm = vm
	return results, failed
}
