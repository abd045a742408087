package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
)

// instance is one guest for one call. It belongs to one goroutine.
type instance struct {
	api.Module
	memory *boundedMemory
	said   said
	config Config
}

// deadline returns a context with the guests' time limit. The host's work on an answer has
// the same limit.
func (r *Runtime) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := r.config.Limits.Time
	return context.WithTimeoutCause(ctx, limit,
		errs.New(errs.PluginTimeout, "the plugin ran longer than %s", limit).With("limit_ms", limit.Milliseconds()))
}

// call makes a fresh instance of m and calls body with it. Every guest is metered, so it
// ends soon after its deadline. The guest's memory is not reused after the call.
func (r *Runtime) call(ctx context.Context, m *module, body func(context.Context, *instance) error) error {
	ctx, cancel := r.deadline(ctx)
	defer cancel()
	memory := &boundedMemory{limit: uint64(r.config.Limits.Memory)}
	guest := &instance{memory: memory, config: r.config}
	mod, err := m.instantiate(experimental.WithMemoryAllocator(ctx, memory), &guest.said)
	if err != nil {
		return guest.failure(ctx, err)
	}
	guest.Module = mod
	defer func() { _ = mod.Close(context.WithoutCancel(ctx)) }()
	if mod.IsClosed() {
		// The guest exited with status 0 in _initialize. wazero can still call its exports, but has
		// released boundedMemory, so its memory would grow without a limit.
		return guest.failure(ctx, sys.NewExitError(0))
	}
	return body(ctx, guest)
}

// invoke calls an export and returns its single result.
func (g *instance) invoke(ctx context.Context, export string, args ...uint64) (uint64, error) {
	results, err := g.ExportedFunction(export).Call(ctx, args...)
	if err != nil {
		return 0, g.failure(ctx, err)
	}
	return results[0], nil
}

// writeInput copies data into memory that the guest allocates.
func (g *instance) writeInput(ctx context.Context, data []byte) (region, error) {
	ptr, err := g.invoke(ctx, exportAlloc, uint64(len(data)))
	if err != nil {
		return region{}, err
	}
	at := region{uint32(ptr), uint32(len(data))}
	switch {
	case at.ptr == 0 && g.memory.denied:
		return region{}, g.outOfMemory()
	case at.ptr == 0:
		return region{}, abi.Violation(errs.PluginABI, abi.NullPointer, "%s returned 0 for %d bytes", exportAlloc, at.len)
	case !g.Memory().Write(at.ptr, data):
		return region{}, abi.Violation(errs.PluginABI, abi.OutOfRange, "%s returned %d for %d bytes, which is outside of the plugin's memory", exportAlloc, at.ptr, at.len)
	}
	return at, nil
}

// scratchSize is the size of the block that Config.Scratch fills. It is odd, so that
// the guest has to align the allocations after it.
const scratchSize = 4099

// fillScratch writes Config.Scratch to a block of the guest's memory.
func (g *instance) fillScratch(ctx context.Context) error {
	if g.config.Scratch == 0 {
		return nil
	}
	_, err := g.writeInput(ctx, bytes.Repeat([]byte{g.config.Scratch}, scratchSize))
	return err
}

// readOutput returns a view of a guest's answer, which the guest's next call may change.
func (g *instance) readOutput(packed uint64) ([]byte, error) {
	at := region{uint32(packed >> 32), uint32(packed)}
	if limit := g.config.Limits.Output; int64(at.len) > limit {
		return nil, errs.New(errs.PluginOutputTooLarge, "the plugin answered with %d bytes; the limit is %d", at.len, limit).With("limit", limit)
	}
	data, ok := g.Memory().Read(at.ptr, at.len)
	if !ok {
		return nil, abi.Violation(errs.PluginABI, abi.OutOfRange, "the plugin's answer of %d bytes at %d is outside of its memory", at.len, at.ptr)
	}
	return data, nil
}

// region is a piece of a guest's memory.
type region struct{ ptr, len uint32 }

func (a region) overlaps(b region) bool {
	return uint64(a.ptr) < uint64(b.ptr)+uint64(b.len) && uint64(b.ptr) < uint64(a.ptr)+uint64(a.len)
}

// failure returns the error of a guest that stopped.
func (g *instance) failure(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case g.memory.denied:
		return g.outOfMemory()
	}
	// The first line is wazero's message; the guest's stack follows.
	what, _, _ := strings.Cut(err.Error(), "\n")
	_, exited := errors.AsType[*sys.ExitError](err)
	if g.Module == nil && !exited && !strings.Contains(what, "wasm error") {
		return abi.Violation(errs.PluginABI, abi.Malformed, "the plugin cannot be instantiated: %s", what)
	}
	reason := what
	if line := g.said.line(); line != "" {
		reason = fmt.Sprintf("%s, after it wrote %q", what, line)
	}
	return errs.New(errs.PluginTrap, "the plugin stopped: %s", reason).With("trap", what)
}

func (g *instance) outOfMemory() error {
	limit := g.config.Limits.Memory
	return errs.New(errs.PluginMemory, "the plugin needs more than %d bytes of memory", limit).With("limit", limit)
}

// said is the beginning of what a guest writes to standard error: the runtimes of languages
// write there why they stop.
type said []byte

// Write keeps what fits into a message.
func (s *said) Write(p []byte) (int, error) {
	*s = append(*s, p[:min(len(p), 4*maxQuoted-len(*s))]...)
	return len(p), nil
}

// line returns the first line that is not blank, or "".
func (s said) line() string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(s)), "\n")
	return clip(line)
}

// boundedMemory is one guest's linear memory, up to a limit. It records whether it refused
// an allocation, so that the trap that follows is reported as a lack of memory.
type boundedMemory struct {
	limit  uint64
	data   []byte
	denied bool
}

// Allocate implements experimental.MemoryAllocator. checkModule has compared the
// module's declared minimum with the limit.
func (m *boundedMemory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It doubles the capacity, so that a
// guest that grows page by page copies each byte a constant number of times.
func (m *boundedMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.denied = true
		return nil
	}
	if size > uint64(cap(m.data)) {
		data := make([]byte, size, min(max(size, 2*uint64(cap(m.data))), m.limit))
		copy(data, m.data)
		m.data = data
	}
	m.data = m.data[:size]
	return m.data
}

// Free implements experimental.LinearMemory. The memory is garbage collected.
func (m *boundedMemory) Free() { m.data = nil }
