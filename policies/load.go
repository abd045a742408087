package policies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/switchyard-dev/switchyard/host/fault"
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

// Load finds, reads and checks a policy, and prepares it for Decide. ref is
//
//   - the name and version of an embedded policy, as in routing@1.0.0;
//   - a directory, whose *.rego files are read, those in its folders too;
//   - an OPA bundle, a gzipped tar file as opa build writes it.
//
// Files named *_test.rego are left out. Nothing outside a directory is read: a
// symbolic link that leads out of it is an error. A bundle may not carry data,
// because the policy's digest is over its Rego alone; its signatures are not
// checked, because the digest says what was loaded.
//
// Loading takes a millisecond for a policy of a page, at most LoadTimeout for any
// other, and ends with ctx.
//
// # Errors
//
//   - CodeUnknown: ref reads as NAME@VERSION and is not built in.
//   - CodeNotFound: ref is a path and nothing is there.
//   - CodeUnreadable: the path cannot be read, or ctx is done.
//   - CodeInvalid: what is there is not a policy, or too large to be one.
//   - CodeTimeout: it cannot be compiled within LoadTimeout.
func Load(ctx context.Context, ref string) (*Policy, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(CodeUnreadable, "load policy %s: %w", ref, err).With("policy", ref)
	}
	if IsReleaseRef(ref) {
		return loadReleased(ctx, ref)
	}
	p, err := bounded(ctx, LoadTimeout, func() (*Policy, error) {
		modules, err := readPath(ref)
		if err != nil {
			return nil, err
		}
		return build(ctx, ref, modules)
	})
	if e, ok := errors.AsType[abandoned](err); ok {
		return nil, fault.New(CodeTimeout, "loading policy %s ran over its time: %w", ref, e.cause).
			With("policy", ref).With("timeout_ms", LoadTimeout.Milliseconds())
	}
	if e, ok := errors.AsType[panicked](err); ok {
		return nil, invalid(ref, Problem{Message: oneLine(e.Error())})
	}
	return p, err
}

// readPath reads the modules of a directory or a bundle.
func readPath(ref string) ([]module, error) {
	f, err := os.OpenFile(ref, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a named pipe must not wait
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(ref)
	}
	if err != nil {
		return nil, unreadable(ref, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, unreadable(ref, err)
	case info.IsDir():
		return readDir(ref)
	case info.Mode().IsRegular():
		return readBundle(ref, f)
	default:
		return nil, unreadable(ref, errors.New("neither a directory nor a file"))
	}
}

// notFound says that there is nothing at the path ref, and what there would be
// without a path.
func notFound(ref string) *fault.Error {
	return fault.New(CodeNotFound, "no policy at %s: %w", ref, fs.ErrNotExist).
		With("policy", ref).
		With("known", Versions())
}

// unreadable says that there is something at the path ref that cannot be read.
func unreadable(ref string, err error) *fault.Error {
	return fault.New(CodeUnreadable, "read policy %s: %w", ref, err).With("policy", ref)
}

// tooLarge says which limit a policy is over, and which file of it, if one is.
func tooLarge(ref, file, format string, args ...any) *fault.Error {
	return invalid(ref, Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

// isModule says that a file is part of a policy.
func isModule(name string) bool {
	return strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, "_test.rego")
}
