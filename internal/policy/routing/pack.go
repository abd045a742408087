package routing

import (
	"cmp"
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	opabundle "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/compile"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// decisionPath is the rule decision in the form of OPA's manifests and command line.
const decisionPath = "switchyard/routing/decision"

// PackOptions are the options of Pack.
type PackOptions struct {
	// Revision names the bundle; "" means the policy's version.
	Revision string
	// Wasm adds the policy compiled to WebAssembly, for programs that evaluate it without
	// the rest of OPA.
	Wasm bool
	// Sign says how to sign the bundle; nil leaves it unsigned.
	Sign *bundle.Signing
}

// Pack packs the policy into an OPA bundle and returns the archive. It contains the
// modules under their names and unchanged, without tests: the bundle loads as the same
// policy with the same digest.
//
// The output is deterministic for one version of Switchyard, including the signature.
// Later versions may compress and compile differently.
//
// # Errors
//
//   - policy-invalid: the revision or a file's name is not valid in a bundle, or the
//     policy cannot be compiled to WebAssembly.
//   - policy-key-invalid: the key cannot sign.
//   - policy-timeout: compiling took longer than loadTimeout.
//   - policy-failed: ctx was done before it began.
func (p *Policy) Pack(ctx context.Context, o PackOptions) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, errs.New(errs.PolicyFailed, "pack policy %s: %w", p, err).With("policy", p.String())
	}
	draft := bundle.Draft{
		Revision: cmp.Or(o.Revision, p.identity.Version),
		Roots:    p.roots(),
		Sign:     o.Sign,
	}
	for _, source := range p.Sources() {
		draft.Files = append(draft.Files, bundle.File{Name: source.Name, Data: []byte(source.Text)})
	}
	if o.Wasm {
		wasm, err := inTime(ctx, p.String(), func() ([]byte, error) { return p.wasm(ctx) })
		if err != nil {
			return nil, err
		}
		draft.Wasm, draft.Entrypoint = wasm, decisionPath
	}
	packed, err := draft.Pack()
	if err != nil {
		return nil, bundleFault(p.String(), err)
	}
	return packed, nil
}

// roots returns the packages of the policy that are not below another of its packages.
func (p *Policy) roots() []string {
	var paths []string
	for _, m := range p.parsed {
		paths = append(paths, packagePath(m.Package))
	}
	slices.Sort(paths) // a parent package sorts before its children
	var roots []string
	for _, path := range paths {
		if !opabundle.RootPathsContain(roots, path) {
			roots = append(roots, path)
		}
	}
	return roots
}

// wasm compiles the decision to WebAssembly. It uses only policy.wasm of the compiler's
// output, because OPA removes the compiled rules from the Rego. File names become part of
// the output, so the modules are parsed again under their names within the policy: the
// result must not depend on where it was loaded from.
func (p *Policy) wasm(ctx context.Context) ([]byte, error) {
	var b opabundle.Bundle
	b.Manifest.Init()
	b.Data = map[string]any{}
	for _, source := range p.Sources() {
		parsed, _ := parse(source.Name, source.Text) // as when it was loaded
		b.Modules = append(b.Modules, opabundle.ModuleFile{URL: source.Name, Path: source.Name, Raw: []byte(source.Text), Parsed: parsed})
	}
	compiler := compile.New().
		WithCapabilities(ast.CapabilitiesForThisVersion()).
		WithTarget(compile.TargetWasm).
		WithEntrypoints(decisionPath).
		WithBundle(&b)
	if err := compiler.Build(ctx); err != nil {
		return nil, p.invalidRego(err)
	}
	return compiler.Bundle().WasmModules[0].Raw, nil
}
