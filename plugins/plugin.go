package plugins

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/plugin/wasmbin"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
)

// Plugin is a normalizer. It is compiled when it is first used. It is safe for
// concurrent use; every call gets its own instance.
type Plugin struct {
	identity    abi.Identity
	description abi.Description
	formats     []document.Format // of the description's media types

	runtime *Runtime
	*code
}

// code is a plugin's module, shared by its configurations under other names.
type code struct {
	wasm   []byte
	mu     sync.Mutex
	module *module // nil until it has been compiled and checked
}

// Load compiles a module, checks that it implements ABI v1, and has it describe itself. It
// loads each module once, so that the memory of a long-lived host does not grow with its
// requests. It retains wasm, which must not be modified.
//
// # Errors
//
// plugin-abi if the module does not implement the ABI, and the codes of a guest that fails.
func (r *Runtime) Load(ctx context.Context, wasm []byte) (*Plugin, error) {
	sum := digest.Of(wasm)
	r.mu.Lock()
	p, known := r.loaded[sum]
	if !known {
		p = &Plugin{runtime: r, code: &code{wasm: wasm}}
		r.loaded[sum] = p
	}
	r.mu.Unlock()
	err := p.load(ctx)
	if err == nil {
		return p, nil
	}
	if ctx.Err() == nil { // Otherwise another caller may still load it.
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.loaded, sum) // The failure may be transient, and the entry holds memory.
	}
	return nil, err
}

// load compiles the module and has it describe itself, once.
func (p *Plugin) load(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identity.Name != "" {
		return nil
	}
	m, err := p.compileLocked(ctx)
	if err != nil {
		return err
	}
	d, err := p.runtime.describe(ctx, m)
	if guest, taken := builtin.Find(d.Name); err == nil && taken && !bytes.Equal(guest.Wasm, p.wasm) {
		err = abi.Violation(errs.PluginInvalidOutput, abi.ReservedName, "the plugin calls itself %s, which is a built-in plugin's name", d.Name)
	}
	if err != nil {
		p.module = nil
		p.runtime.release(ctx, m)
		return err
	}
	p.describe(d)
	return nil
}

func (p *Plugin) describe(d abi.Description) {
	p.description = d
	for _, mediaType := range d.Formats {
		if f, ok := document.FormatOf(mediaType); ok && !slices.Contains(p.formats, f) {
			p.formats = append(p.formats, f)
		}
	}
	p.identity = abi.Identity{Name: d.Name, Version: d.Version, Digest: digest.Of(p.wasm)}
}

// Identity returns the plugin's identity.
func (p *Plugin) Identity() abi.Identity { return p.identity }

// Description returns the plugin's description of itself. Do not modify its slices.
func (p *Plugin) Description() abi.Description { return p.description }

// As returns the plugin under the name of a configuration. The name is also the critic of
// reports that do not name one.
func (p *Plugin) As(name string) *Plugin {
	c := &Plugin{identity: p.identity, description: p.description, formats: p.formats, runtime: p.runtime, code: p.code}
	c.identity.Name, c.identity.Use = name, p.identity.Name
	return c
}

// compile compiles and checks the module. It keeps only a success: a failure may be
// transient.
func (p *Plugin) compile(ctx context.Context) (*module, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compileLocked(ctx)
}

func (p *Plugin) compileLocked(ctx context.Context) (*module, error) {
	if p.module != nil {
		return p.module, nil
	}
	if err := checkHeader(p.wasm); err != nil {
		return nil, err
	}
	if err := checkImports(wasmbin.Survey(p.wasm).Imports); err != nil {
		return nil, err
	}
	metered, err := wasmbin.Meter(p.wasm)
	if err != nil {
		return nil, errNotMeterable(err)
	}
	m, err := p.runtime.compileInTime(ctx, metered)
	if err != nil {
		if errs.CodeOf(err) == "" && !errors.Is(err, context.Cause(ctx)) {
			err = abi.Violation(errs.PluginABI, abi.Malformed, "the module does not compile: %s", err)
		}
		return nil, err
	}
	if err = m.link(ctx); err == nil {
		err = checkModule(m.compiled, p.runtime.config.Limits)
	}
	if err != nil {
		p.runtime.release(ctx, m)
		return nil, err
	}
	p.module = m
	return m, nil
}

func errNotMeterable(err error) error {
	if e, ok := errors.AsType[*wasmbin.Error](err); ok && e.Limit > 0 {
		return abi.Violation(errs.PluginABI, abi.Oversized, "%s", err).With("limit", e.Limit)
	}
	return abi.Violation(errs.PluginABI, abi.Malformed, "%s", err)
}
