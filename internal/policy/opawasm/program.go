// Package opawasm runs policies that OPA has compiled to WebAssembly.
//
// OPA brings a host for them too, which serves a long-lived server: its
// instances may take 4 GiB of memory each, nothing frees them, and a built-in
// that fails is undefined and nothing else. This one gives an instance 64 MiB, is
// freed with the policy, and fails an evaluation in which a built-in failed, as
// OPA's own evaluator does where it is told to be strict.
package opawasm

import (
	"context"
	"errors"
	"runtime"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/codecache"
)

const (
	pageBytes = 64 << 10
	// maxPages is how much memory an instance may have. A policy of a page uses the
	// half of a megabyte.
	maxPages = 1024
	// basePages is how much an instance has to begin with, besides what a policy
	// brings.
	basePages = 16
	// maxTextBytes is how long a value may be as text that leaves the policy's memory:
	// parsing it takes some hundred times as much outside.
	maxTextBytes = 4 << 20
)

// minPages is enough memory for what the code puts there.
func minPages(code []byte) uint32 {
	return min(basePages+uint32(len(code))/pageBytes, maxPages)
}

// ErrInterrupted says that an evaluation ended because its context did.
var ErrInterrupted = errors.New("interrupted")

// Lookup returns the built-in of a name, or nil.
type Lookup func(name string) topdown.BuiltinFunc

// Program is a compiled policy, ready to be evaluated. It is safe for concurrent
// use. Its machine code and its instances are freed when nothing refers to it any
// more.
type Program struct {
	code   []byte
	lookup Lookup
	pool   *pool
}

// pool is what a program leaves behind: it is what the clean-up gets.
type pool struct {
	cache wazero.CompilationCache
	// keeper holds the compiled code, which the cache forgets with the last instance.
	keeper wazero.Runtime
	idle   chan *instance
}

// New compiles a policy in OPA's WebAssembly ABI, whose first entrypoint is the
// query, to machine code, or finds that code below cacheDir (package codecache); ""
// means no cache on disk. lookup finds the built-ins that the policy does not bring
// along; it must be safe for concurrent use.
func New(ctx context.Context, code []byte, lookup Lookup, cacheDir string) (*Program, error) {
	p := &Program{code: code, lookup: lookup, pool: &pool{idle: make(chan *instance, runtime.GOMAXPROCS(0))}}
	ok, err := codecache.Compile(ctx, cacheDir, code, func(cache wazero.CompilationCache) error { return p.pool.compile(ctx, cache, code) })
	if err == nil && !ok {
		err = p.pool.compile(ctx, wazero.NewCompilationCache(), code)
	}
	if err != nil {
		return nil, err
	}
	vm, err := newInstance(ctx, code, lookup, p.pool.cache)
	if err != nil {
		p.pool.close()
		return nil, err
	}
	p.pool.idle <- vm
	runtime.AddCleanup(p, (*pool).close, p.pool)
	return p, nil
}

// compile compiles all modules of an instance, so that newInstance finds their code
// in memory.
func (p *pool) compile(ctx context.Context, cache wazero.CompilationCache, code []byte) error {
	p.cache, p.keeper = cache, newRuntime(ctx, cache)
	for _, module := range [][]byte{environment(minPages(code), maxPages), code} {
		if _, err := p.keeper.CompileModule(ctx, module); err != nil {
			_ = p.keeper.Close(ctx)
			return err
		}
	}
	return nil
}

// Eval evaluates the query for an input in Rego's notation, of which JSON is a
// part, and returns the set of its results. It ends with ctx: in the midst of a
// loop, but not in the midst of a built-in that does not look.
//
// # Errors
//
// ErrInterrupted, what a built-in failed with, or why the policy broke off: its
// rules disagree, or its memory is full.
func (p *Program) Eval(ctx context.Context, input string) (ast.Value, error) {
	defer runtime.KeepAlive(p)
	vm, err := p.acquire(ctx)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	results, failed, err := vm.evaluate(ctx, input)
	if err != nil { // its state is unknown
		vm.close()
		return nil, interrupted(ctx, err)
	}
	p.pool.release(vm)
	return results, failed
}

// interrupted tells an evaluation that failed from one that was ended.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// acquire takes an idle instance, or makes one.
func (p *Program) acquire(ctx context.Context) (*instance, error) {
	select {
	case vm := <-p.pool.idle:
		return vm, nil
	default:
		return newInstance(ctx, p.code, p.lookup, p.pool.cache)
	}
}

// release keeps an instance for the next evaluation, if few are kept.
func (p *pool) release(vm *instance) {
	select {
	case p.idle <- vm:
	default:
		vm.close()
	}
}

// close frees the instances and the machine code.
func (p *pool) close() {
	for {
		select {
		case vm := <-p.idle:
			vm.close()
		default:
			_ = p.keeper.Close(context.Background())
			_ = p.cache.Close(context.Background())
			return
		}
	}
}
