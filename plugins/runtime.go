package plugins

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/switchyard-dev/switchyard/host/fault"
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

	left atomic.Bool // a compilation was left behind, which holds mu
}

// New returns a Runtime. The caller must Close it.
func New(config Config) *Runtime {
	return &Runtime{limits: config.Limits.withDefaults(), cacheDir: config.CacheDir}
}

// Close releases all compiled code. A guest that is still running or compiling
// after its deadline is left alone; only the end of the process stops it.
func (r *Runtime) Close(ctx context.Context) error {
	if r.left.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.cached.close(ctx), r.bare.close(ctx))
}

// compileTime is how long compiling a module may take. One of the Go toolchain
// takes a second.
const compileTime = 10 * time.Second

// compileInTime is compile, but waits no longer than compileTime or ctx.
func (r *Runtime) compileInTime(ctx context.Context, wasm []byte) (*engine, wazero.CompiledModule, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, compileTime,
		fault.New(CodeTimeout, "compiling the plugin took longer than %s", compileTime).With("limit_ms", compileTime.Milliseconds()))
	defer cancel()
	type outcome struct {
		engine   *engine
		compiled wazero.CompiledModule
		err      error
	}
	done := make(chan outcome, 1)
	go func() {
		engine, compiled, err := r.compile(context.WithoutCancel(ctx), wasm)
		done <- outcome{engine, compiled, err}
	}()
	select {
	case o := <-done:
		return o.engine, o.compiled, o.err
	case <-ctx.Done():
		r.left.Store(true)
		return nil, nil, context.Cause(ctx)
	}
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
	// Without reference types no guest can grow its tables.
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithDebugInfoEnabled(false).
		WithCoreFeatures(api.CoreFeaturesV2 &^ api.CoreFeatureReferenceTypes)
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
