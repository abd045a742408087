package routing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// The limits of a policy that is not built in. A policy is a page or two of Rego, so they
// are generous; they reject files that are not policies.
const (
	// MaxModuleBytes bounds the total bytes of a policy's Rego files without tests;
	// compiling that much takes half a second.
	MaxModuleBytes = 256 << 10
	// MaxModules is the largest number of Rego files, without tests.
	MaxModules = 100
	// maxNesting bounds the nesting of brackets in a Rego file. The compiler's time can
	// double with every level.
	maxNesting = 16
	// MaxEntries is the largest number of files and directories of any type in a directory or
	// a bundle.
	MaxEntries = 2000
	// MaxBundleBytes bounds a bundle, in bytes, both packed and unpacked.
	MaxBundleBytes = 16 << 20
)

// Loader configures how policies are loaded. The zero value knows no released version,
// interprets policies and checks no signature.
type Loader struct {
	// Released holds the released versions, routing/VERSION/*.rego, and their
	// versions.lock. It may be nil.
	Released fs.FS
	// Engine evaluates the policy; "" means EngineRego.
	Engine Engine
	// CacheDir is the directory in which EngineWasm caches machine code, shared with the
	// plugins; "" disables the cache.
	CacheDir string
	// Trust holds the keys that may sign bundles. If it is nil, bundles need no signature.
	Trust *bundle.Trust
}

// Load reads and checks a policy, and prepares it for Decide. ref is
//
//   - the name and version of a released policy, such as routing@1.0.0;
//   - a directory, whose *.rego files are read, including those in subdirectories;
//   - an OPA bundle, a gzipped tar file as written by opa build.
//
// Files named *_test.rego are skipped. Nothing outside a directory is read: a symbolic
// link that leads out of it is an error. A bundle must not contain data, because the
// policy's digest covers only its Rego. With a Trust, a bundle must be signed by one of
// its keys, and a directory is rejected because it cannot be signed. Released versions
// are part of the program and need no signature.
//
// Loading takes about a millisecond, at most loadTimeout, and ends with ctx.
//
// # Errors
//
//   - policy-unknown: ref has the form NAME@VERSION and is not released.
//   - policy-not-found: ref is a path that does not exist.
//   - policy-unreadable: the path cannot be read, or ctx is done.
//   - policy-invalid: the content is not a policy, or exceeds a limit.
//   - policy-timeout: it cannot be compiled within loadTimeout.
//   - policy-invalid-input: the engine is unknown.
//   - policy-unsigned and the other signature errors: the bundle is not signed as Trust requires.
func (l Loader) Load(ctx context.Context, ref string) (*Policy, error) {
	if IsReleaseRef(ref) {
		if err := l.ready(ctx, ref); err != nil {
			return nil, err
		}
		sources, err := l.releasedSources(ref, IsModule)
		if err != nil {
			return nil, err
		}
		return l.build(ctx, ref, loadedSources{modules: modulesOf(ref+"/", sources)})
	}
	return l.load(ctx, ref, func() (loadedSources, error) { return l.readPath(ref) })
}

// ready checks the engine and ctx before loading.
func (l Loader) ready(ctx context.Context, ref string) error {
	if l.Engine != "" && l.Engine != EngineRego && l.Engine != EngineWasm {
		return errs.New(errs.PolicyInvalidInput, "load policy %s: there is no engine %q", ref, l.Engine).
			With("field", "engine").
			With("value", l.Engine)
	}
	if err := ctx.Err(); err != nil {
		return errs.New(errs.PolicyUnreadable, "load policy %s: %w", ref, err).With("policy", ref)
	}
	return nil
}

func (l Loader) load(ctx context.Context, ref string, read func() (loadedSources, error)) (*Policy, error) {
	if err := l.ready(ctx, ref); err != nil {
		return nil, err
	}
	return inTime(ctx, ref, func() (*Policy, error) {
		c, err := read()
		if err != nil {
			return nil, err
		}
		return l.build(ctx, ref, c)
	})
}

// inTime runs a part of loading within loadTimeout.
func inTime[T any](ctx context.Context, ref string, work func() (T, error)) (T, error) {
	ctx, stop := context.WithTimeout(ctx, loadTimeout)
	defer stop()
	value, err := Bounded(ctx, work)
	switch {
	case err == nil, errs.CodeOf(err) != "":
		return value, err
	case ctx.Err() != nil:
		return value, errs.New(errs.PolicyTimeout, "loading policy %s ran over its time: %w", ref, ctx.Err()).
			With("policy", ref).With("timeout_ms", loadTimeout.Milliseconds())
	default: // a panic
		return value, invalid(ref, Problem{Message: oneLine(err.Error())})
	}
}

// loadedSources holds the modules of a directory or a bundle, and its metadata.
type loadedSources struct {
	modules []module
	// The rest is set for a bundle. All but the signer are from its manifest.
	revision           string
	roots, entrypoints []string
	signer             string // id of the key that signed it
}

func (l Loader) readPath(ref string) (loadedSources, error) {
	f, err := os.OpenFile(ref, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe must not block
	if errors.Is(err, fs.ErrNotExist) {
		return loadedSources{}, errs.New(errs.PolicyNotFound, "no policy at %s: %w", ref, fs.ErrNotExist).
			With("policy", ref).
			With("known", l.Versions())
	}
	if err != nil {
		return loadedSources{}, unreadable(ref, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return loadedSources{}, unreadable(ref, err)
	case info.IsDir() && l.Trust != nil:
		return loadedSources{}, errs.New(errs.PolicyUnsigned, "policy %s is a directory, which cannot be signed", ref).With("policy", ref)
	case info.IsDir():
		sources, err := ReadDir(ref, IsModule)
		modules := modulesOf("", sources)
		for i, m := range modules {
			modules[i].shown = filepath.Join(ref, filepath.FromSlash(m.Name))
		}
		return loadedSources{modules: modules}, err
	case info.Mode().IsRegular():
		return l.readBundle(ref, f)
	default:
		return loadedSources{}, unreadable(ref, errors.New("neither a directory nor a file"))
	}
}

func unreadable(ref string, err error) *errs.Error {
	return errs.New(errs.PolicyUnreadable, "read policy %s: %w", ref, err).With("policy", ref)
}

// tooLarge returns the error for an exceeded limit, and the file that exceeds it, if any.
func tooLarge(ref, file, format string, args ...any) *errs.Error {
	return invalid(ref, Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

// loadTimeout bounds loading a policy that is not built in. A policy of a page takes a
// millisecond, but a few nested comprehensions can keep the compiler busy indefinitely.
const loadTimeout = 5 * time.Second

// grace is the time an evaluation has to notice that it was canceled.
const grace = 100 * time.Millisecond

// Bounded returns the result of work, or a panic of OPA as an error. It waits at most a
// grace period after ctx ends, and then returns the error of ctx: OPA checks for cancellation
// between steps, and one step can be long. Abandoned work continues until it or the process
// ends.
func Bounded[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o.err = fmt.Errorf("panic: %v", p)
			}
			done <- o
		}()
		growStack(0)
		o.value, o.err = work()
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(grace):
		var none T
		return none, ctx.Err()
	}
}

// stackRoom is the initial stack of a goroutine, in bytes: more than the evaluation of an
// embedded policy needs.
const stackRoom = 48 << 10

// growStack grows the goroutine's stack to stackRoom at once. OPA recurses deeply, and
// repeatedly doubling and copying the stack takes two fifths of a decision's time.
//
//go:noinline
func growStack(i int) byte {
	var room [stackRoom]byte
	return room[i]
}
