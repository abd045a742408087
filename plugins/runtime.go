package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/switchyard-dev/switchyard/internal/codecache"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
)

// Config says how guests run. Its zero value grants nothing, applies every
// default limit and caches nothing.
type Config struct {
	Limits abi.Limits
	// CacheDir keeps compiled code between runs; "" keeps none. Only the user may
	// be able to write to it, because its content is executed: never use a folder
	// inside a repository.
	CacheDir string
	// Interpret runs guests without compiling them, many times slower, and without
	// the cache. The answers must be the same.
	Interpret bool
	// Scratch, if not 0, fills a block that every guest must allocate before its
	// report. A guest's answer must not depend on unwritten memory or on the address
	// of its report.
	Scratch byte
}

// Runtime compiles and runs guests. It does no work until the first module is
// loaded, and is safe for concurrent use.
type Runtime struct {
	config Config

	mu      sync.Mutex
	engines []*engine          // one for each module
	loaded  map[string]*Plugin // the modules given to Load, by digest
}

// New returns a Runtime. The caller must Close it.
func New(config Config) *Runtime {
	config.Limits = config.Limits.WithDefaults()
	if config.Interpret {
		config.CacheDir = ""
	}
	return &Runtime{config: config, loaded: make(map[string]*Plugin)}
}

// Limits returns the guests' limits, with defaults filled in.
func (r *Runtime) Limits() abi.Limits { return r.config.Limits }

// Close releases all compiled code. The caller must not run guests any more. An
// abandoned compilation ends by itself.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, e := range r.engines {
		errs = append(errs, e.close(ctx))
	}
	r.engines = nil
	return errors.Join(errs...)
}

// release closes an engine whose module is of no use.
func (r *Runtime) release(ctx context.Context, e *engine) {
	r.mu.Lock()
	r.engines = slices.DeleteFunc(r.engines, func(other *engine) bool { return other == e })
	r.mu.Unlock()
	_ = e.close(context.WithoutCancel(ctx)) // It holds nothing but memory.
}

// compileTime is how long compiling a module may take. One of the Go toolchain
// takes a second.
const compileTime = 10 * time.Second

// compileInTime is compile, but waits no longer than compileTime or ctx. wazero
// cannot be interrupted: a compilation that takes longer is left behind, and what
// comes of it is thrown away.
func (r *Runtime) compileInTime(ctx context.Context, wasm []byte) (*engine, wazero.CompiledModule, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, compileTime,
		errs.New(errs.PluginTimeout, "compiling the plugin took longer than %s", compileTime).With("limit_ms", compileTime.Milliseconds()))
	defer cancel()
	type outcome struct {
		engine   *engine
		compiled wazero.CompiledModule
		err      error
	}
	done := make(chan outcome)
	go func() {
		ctx, late := context.WithoutCancel(ctx), ctx.Done()
		engine, compiled, err := r.compile(ctx, wasm)
		select {
		case done <- outcome{engine, compiled, err}:
		case <-late:
			_ = engine.close(ctx) // The caller has given up on it.
		}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, nil, o.err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.engines = append(r.engines, o.engine)
		return o.engine, o.compiled, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// compile prepares a module in an engine of its own. A cache that fails, for
// whatever reason, costs time and never the result: the module is compiled once
// more without it.
func (r *Runtime) compile(ctx context.Context, wasm []byte) (*engine, wazero.CompiledModule, error) {
	var made *engine
	var compiled wazero.CompiledModule
	ok, err := codecache.Compile(ctx, r.config.CacheDir, wasm, func(cache wazero.CompilationCache) (err error) {
		e := newEngine(ctx, wazero.NewRuntimeConfigCompiler(), cache)
		if compiled, err = e.compile(ctx, wasm); err != nil {
			_ = e.runtime.Close(ctx)
			return err
		}
		made = e
		return nil
	})
	if ok || err != nil {
		return made, compiled, err
	}
	how := wazero.NewRuntimeConfigCompiler()
	if r.config.Interpret {
		how = wazero.NewRuntimeConfigInterpreter()
	}
	e := newEngine(ctx, how, nil)
	if compiled, err = e.compile(ctx, wasm); err != nil {
		_ = e.close(ctx)
		return nil, nil, err
	}
	return e, compiled, nil
}

// engine is a wazero runtime for one module, with its cache, if it has one.
type engine struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
}

func newEngine(ctx context.Context, config wazero.RuntimeConfig, cache wazero.CompilationCache) *engine {
	// Without reference types no guest can grow its tables. Custom sections are
	// for debuggers; the meter leaves them out.
	config = config.WithDebugInfoEnabled(false).WithCoreFeatures(api.CoreFeaturesV2 &^ api.CoreFeatureReferenceTypes)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	return &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache}
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
