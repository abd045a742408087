package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// Config says how guests run. Its zero value grants nothing, applies every
// default limit and caches nothing.
type Config struct {
	Limits Limits
	// CacheDir keeps compiled code between runs; "" keeps none. It must belong
	// to the user alone, because what lies there is executed: never use a
	// folder that a repository can bring along.
	CacheDir string
}

// Runtime compiles and runs guests. It does no work until the first module is
// loaded, and is safe for concurrent use.
type Runtime struct {
	limits   Limits
	cacheDir string

	mu     sync.Mutex
	cached *engine // nil until needed, and where there is no cache
	bare   *engine // nil until needed
}

// New returns a Runtime. The caller must Close it.
func New(config Config) *Runtime {
	return &Runtime{limits: config.Limits.withDefaults(), cacheDir: config.CacheDir}
}

// Close releases all compiled code. A guest that is still running after its
// deadline is left alone; only the end of the process stops it.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.cached.close(ctx), r.bare.close(ctx))
}

// compile prepares a module. A cache that fails, for whatever reason, costs
// time and never the result: the module is compiled once more without it, and
// the cache starts afresh.
func (r *Runtime) compile(ctx context.Context, wasm []byte) (*engine, wazero.CompiledModule, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cached == nil && r.cacheDir != "" {
		cache, err := openCache(r.cacheDir)
		if err != nil {
			return nil, nil, err
		}
		if cache != nil {
			r.cached = newEngine(ctx, cache)
		}
	}
	if r.cached != nil {
		if compiled, err := r.cached.compile(ctx, wasm); err == nil {
			return r.cached, compiled, nil
		}
	}
	if r.bare == nil {
		r.bare = newEngine(ctx, nil)
	}
	compiled, err := r.bare.compile(ctx, wasm)
	if err == nil && r.cached != nil {
		discardCache(r.cacheDir)
	}
	return r.bare, compiled, err
}

// engine is a wazero runtime with its cache, if it has one.
type engine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	wasi    func(context.Context) error
}

func newEngine(ctx context.Context, cache wazero.CompilationCache) *engine {
	// Close-on-done makes a guest's loops look at the deadline.
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache}
	var once sync.Once
	var wasiErr error
	e.wasi = func(ctx context.Context) error {
		once.Do(func() { _, wasiErr = wasi_snapshot_preview1.Instantiate(ctx, e.runtime) })
		return wasiErr
	}
	return e
}

// compile turns a panic into an error, because a damaged cache entry can make
// the deserializer panic.
func (e *engine) compile(ctx context.Context, wasm []byte) (compiled wazero.CompiledModule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compile module: %v", p)
		}
	}()
	return e.runtime.CompileModule(ctx, wasm)
}

func (e *engine) close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}
