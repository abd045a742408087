package routing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// The limits of a policy that is not built in. A policy is a page or two of
// Rego, so they are generous; they are there for files that are no policy.
const (
	// MaxModuleBytes is the most that a policy's Rego files have together, in
	// bytes, tests not counted: compiling that much takes half a second.
	MaxModuleBytes = 256 << 10
	// MaxModules is the largest number of Rego files, tests not counted.
	MaxModules = 100
	// MaxNesting is how deep brackets may nest in a Rego file. The compiler's time
	// can double with every level.
	MaxNesting = 16
	// MaxEntries is the largest number of files and folders that a directory or
	// a bundle may hold, whatever they are.
	MaxEntries = 2000
	// MaxBundleBytes is the largest bundle, in bytes, packed and unpacked.
	MaxBundleBytes = 16 << 20
)

// Loader says how policies are loaded. The zero value knows no released version,
// interprets policies and checks no signature.
type Loader struct {
	// Released holds the released versions, routing/VERSION/*.rego, and their
	// versions.lock; nil means none.
	Released fs.FS
	// Engine is what evaluates the policy; "" is EngineRego.
	Engine Engine
	// CacheDir is the folder in which EngineWasm keeps machine code between runs, the
	// same as the plugins'; "" means none.
	CacheDir string
	// Trust holds the keys that a bundle must be signed with. nil asks for no
	// signature.
	Trust *bundle.Trust
}

// Load finds, reads and checks a policy, and prepares it for Decide. ref is
//
//   - the name and version of a released policy, as in routing@1.0.0;
//   - a directory, whose *.rego files are read, those in its folders too;
//   - an OPA bundle, a gzipped tar file as opa build writes it.
//
// Files named *_test.rego are left out. Nothing outside a directory is read: a
// symbolic link that leads out of it is an error. A bundle may not carry data,
// because the policy's digest is over its Rego alone. With a Trust, a bundle must
// be signed by one of its keys, and a directory is refused because it cannot be
// signed. The released versions are part of the program and need no signature.
//
// Loading takes a millisecond for a policy of a page, at most LoadTimeout for any
// other, and ends with ctx.
//
// # Errors
//
//   - policy-unknown: ref reads as NAME@VERSION and is not released.
//   - policy-not-found: ref is a path and nothing is there.
//   - policy-unreadable: the path cannot be read, or ctx is done.
//   - policy-invalid: what is there is not a policy, or too large to be one.
//   - policy-timeout: it cannot be compiled within LoadTimeout.
//   - policy-invalid-input: there is no such engine.
//   - policy-unsigned and its neighbours: the bundle is not signed as Trust asks.
func (l Loader) Load(ctx context.Context, ref string) (*Policy, error) {
	if IsReleaseRef(ref) {
		if err := l.ready(ctx, ref); err != nil {
			return nil, err
		}
		return l.loadReleased(ctx, ref)
	}
	return l.load(ctx, ref, func() (loadedSources, error) { return l.readPath(ref) })
}

// ready refuses to begin what cannot be done.
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

// load reads and builds a policy within LoadTimeout.
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

// inTime does a part of loading within LoadTimeout.
func inTime[T any](ctx context.Context, ref string, work func() (T, error)) (T, error) {
	ctx, stop := context.WithTimeout(ctx, LoadTimeout)
	defer stop()
	value, err := Bounded(ctx, work)
	if e, ok := errors.AsType[timedOut](err); ok {
		return value, errs.New(errs.PolicyTimeout, "loading policy %s ran over its time: %w", ref, e.cause).
			With("policy", ref).With("timeout_ms", LoadTimeout.Milliseconds())
	}
	if e, ok := errors.AsType[panicked](err); ok {
		return value, invalid(ref, Problem{Message: oneLine(e.Error())})
	}
	return value, err
}

// loadedSources is what a carrier holds: the modules, and what it says of them.
type loadedSources struct {
	modules  []module
	revision string // in a bundle's manifest
	signer   string // id of the key that signed a bundle
}

// readPath reads a directory or a bundle.
func (l Loader) readPath(ref string) (loadedSources, error) {
	f, err := os.OpenFile(ref, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe must not wait
	if errors.Is(err, fs.ErrNotExist) {
		return loadedSources{}, l.notFound(ref)
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
		return loadedSources{}, errs.New(errs.PolicyUnsigned, "policy %s is a directory, which nobody can have signed", ref).With("policy", ref)
	case info.IsDir():
		modules, err := readDir(ref)
		return loadedSources{modules: modules}, err
	case info.Mode().IsRegular():
		return l.readBundle(ref, f)
	default:
		return loadedSources{}, unreadable(ref, errors.New("neither a directory nor a file"))
	}
}

// notFound says that there is nothing at the path ref, and what there would be
// without a path.
func (l Loader) notFound(ref string) *errs.Error {
	return errs.New(errs.PolicyNotFound, "no policy at %s: %w", ref, fs.ErrNotExist).
		With("policy", ref).
		With("known", l.Versions())
}

// unreadable says that there is something at the path ref that cannot be read.
func unreadable(ref string, err error) *errs.Error {
	return errs.New(errs.PolicyUnreadable, "read policy %s: %w", ref, err).With("policy", ref)
}

// tooLarge says which limit a policy is over, and which file of it, if one is.
func tooLarge(ref, file, format string, args ...any) *errs.Error {
	return invalid(ref, Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

// isModule says that a file is part of a policy.
func isModule(name string) bool {
	return strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, testSuffix)
}

// testSuffix ends the names of the files with a policy's tests.
const testSuffix = "_test.rego"
