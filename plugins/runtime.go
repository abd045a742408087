package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/switchyard-dev/switchyard/internal/codecache"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
)

// Config configures how guests run. Its zero value has the default limits and no cache.
type Config struct {
	Limits abi.Limits
	// CacheDir is a directory for compiled code, or "" for no cache. Its content is
	// executed, so only the user may be able to write to it: never use a directory inside a
	// repository.
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
	modules []*module          // everything compiled
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
	var failures []error
	for _, m := range r.modules {
		failures = append(failures, m.close(ctx))
	}
	r.modules = nil
	return errors.Join(failures...)
}

// release closes a module that cannot be used.
func (r *Runtime) release(ctx context.Context, m *module) {
	r.mu.Lock()
	r.modules = slices.DeleteFunc(r.modules, func(other *module) bool { return other == m })
	r.mu.Unlock()
	_ = m.close(context.WithoutCancel(ctx)) // It only frees memory.
}

// compileTime limits the compilation of a module. A module of the Go toolchain takes a
// second, and ten times as long on a busy machine.
const compileTime = 30 * time.Second

// compileInTime is compile with a time limit. wazero cannot be interrupted: a compilation
// that takes longer runs on, and its result is dropped.
func (r *Runtime) compileInTime(ctx context.Context, wasm []byte) (*module, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, compileTime,
		errs.New(errs.PluginTimeout, "compiling the plugin took longer than %s", compileTime).With("limit_ms", compileTime.Milliseconds()))
	defer cancel()
	type outcome struct {
		module *module
		err    error
	}
	done := make(chan outcome)
	go func() {
		ctx, late := context.WithoutCancel(ctx), ctx.Done()
		m, err := r.compile(ctx, wasm)
		select {
		case done <- outcome{m, err}:
		case <-late:
			if err == nil {
				_ = m.close(ctx)
			}
		}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.modules = append(r.modules, o.module)
		return o.module, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// compile prepares a module in a wazero runtime of its own.
func (r *Runtime) compile(ctx context.Context, wasm []byte) (m *module, err error) {
	how := wazero.NewRuntimeConfigCompiler()
	if r.config.Interpret {
		how = wazero.NewRuntimeConfigInterpreter()
	}
	// Without reference types a guest cannot grow its tables. Debug information is in
	// custom sections, which the meter drops.
	how = how.WithDebugInfoEnabled(false).WithCoreFeatures(api.CoreFeaturesV2 &^ api.CoreFeatureReferenceTypes)
	err = codecache.Compile(ctx, r.config.CacheDir, wasm, func(cache wazero.CompilationCache) error {
		m = &module{runtime: wazero.NewRuntimeWithConfig(ctx, how.WithCompilationCache(cache)), cache: cache}
		m.compiled, err = m.runtime.CompileModule(ctx, wasm)
		if err != nil {
			_ = m.runtime.Close(ctx)
		}
		return err
	})
	return m, err
}

// module is a compiled guest that passed the ABI's checks.
type module struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
}

func (m *module) close(ctx context.Context) error {
	return errors.Join(m.runtime.Close(ctx), m.cache.Close(ctx))
}

// instantiate returns an error for a panic: wazero has panicked on modules that it had
// found valid.
func (m *module) instantiate(ctx context.Context, stderr io.Writer) (mod api.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("instantiate module: %v", p)
		}
	}()
	// wazero's defaults are a clock that advances only when it is read, seeded randomness, and
	// no files, environment or arguments. Without a name, any number of instances can exist at
	// once.
	sandbox := wazero.NewModuleConfig().WithName("").WithStartFunctions(exportInitialize).WithStderr(stderr)
	return m.runtime.InstantiateModule(ctx, m.compiled, sandbox)
}
