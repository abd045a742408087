// Package opawasm runs policies that OPA has compiled to WebAssembly.
//
// OPA's own host is for long-lived servers: its instances may use 4 GiB of memory each,
// nothing frees them, and a failing built-in is merely undefined. This host limits an
// instance to 64 MiB, is freed with the policy, and fails an evaluation in which a
// built-in failed, as OPA's evaluator does in strict mode.
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
	// maxPages bounds the memory of an instance. A policy of a page uses half a megabyte.
	maxPages = 1024
	// basePages is the initial memory of an instance, in addition to the policy's data.
	basePages = 16
	// maxTextBytes bounds a value read as text from the policy's memory: parsing it takes
	// some hundred times as much memory outside.
	maxTextBytes = 4 << 20
)

// minPages returns the memory that the code needs initially.
func minPages(code []byte) uint32 {
	return min(basePages+uint32(len(code))/pageBytes, maxPages)
}

// ErrInterrupted reports that an evaluation ended because its context did.
var ErrInterrupted = errors.New("interrupted")

// Lookup returns the built-in with a name, or nil.
type Lookup func(name string) topdown.BuiltinFunc

// Program is a compiled policy, ready to be evaluated. It is safe for concurrent use. Its
// machine code and its instances are freed when it becomes unreachable.
type Program struct {
	code   []byte
	lookup Lookup
	pool   *pool
}

// pool holds a program's resources, for its cleanup.
type pool struct {
	cache wazero.CompilationCache
	// keeper holds the compiled code, which the cache drops with the last runtime.
	keeper wazero.Runtime
	idle   chan *instance
}

// New compiles a policy in OPA's WebAssembly ABI, whose first entrypoint is the query, to
// machine code, or loads that code from below cacheDir (package codecache); "" disables
// the cache on disk. lookup finds the built-ins that are not part of the policy; it must
// be safe for concurrent use.
func New(ctx context.Context, code []byte, lookup Lookup, cacheDir string) (*Program, error) {
	p := &Program{code: code, lookup: lookup, pool: &pool{idle: make(chan *instance, runtime.GOMAXPROCS(0))}}
	err := codecache.Compile(ctx, cacheDir, code, func(cache wazero.CompilationCache) error { return p.pool.compile(ctx, cache, code) })
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

// compile compiles all modules of an instance, so that newInstance finds their code in
// memory.
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

// Eval evaluates the query for an input in Rego notation, of which JSON is a subset, and
// returns the set of its results. It ends with ctx, even within a loop, but not within a
// built-in that ignores ctx.
//
// # Errors
//
// ErrInterrupted, the error of a built-in, or the reason why the policy aborted: its
// rules conflict, or its memory is full.
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

// interrupted distinguishes a failed evaluation from an interrupted one.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// acquire returns an idle instance, or a new one.
func (p *Program) acquire(ctx context.Context) (*instance, error) {
	select {
	case vm := <-p.pool.idle:
		return vm, nil
	default:
		return newInstance(ctx, p.code, p.lookup, p.pool.cache)
	}
}

// release returns an instance to the pool, or closes it if the pool is full.
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
