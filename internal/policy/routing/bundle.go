package routing

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	opabundle "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// readBundle reads an OPA bundle, and verifies its signature if the loader has trusted
// keys. It unpacks in memory only, so names in the archive cannot escape. It ignores
// policy.wasm: the digest, explanations and checks are about the Rego, so the Rego is
// evaluated.
func (l Loader) readBundle(ref string, f *os.File) (loadedSources, error) {
	packed, err := io.ReadAll(io.LimitReader(f, MaxBundleBytes+1))
	if err != nil {
		return loadedSources{}, unreadable(ref, err)
	}
	limits := bundle.Limits{Packed: MaxBundleBytes, Unpacked: MaxBundleBytes, Module: MaxModuleBytes, Entries: MaxEntries}
	contents, err := bundle.Read(packed, limits, l.Trust)
	if err != nil {
		return loadedSources{}, bundleFault(ref, err)
	}
	if contents.Data {
		return loadedSources{}, invalid(ref, Problem{Message: "it contains data, which its digest does not cover: write it into the Rego"})
	}
	c := loadedSources{revision: contents.Revision, signer: contents.Signer, roots: contents.Roots, entrypoints: contents.Entrypoints}
	for _, file := range contents.Files {
		if !IsModule(file.Name) {
			continue
		}
		c.modules = append(c.modules, module{Source{file.Name, string(file.Data)}, ref + ":" + file.Name})
	}
	return c, nil
}

// bundleFault adds the policy's name to the error of an unreadable bundle.
func bundleFault(ref string, err error) error {
	if p, ok := errors.AsType[bundle.Problem](err); ok {
		return invalid(ref, Problem{File: p.File, Message: p.Message})
	}
	e, _ := errors.AsType[*errs.Error](err) // of the other errors of the package
	named := *e
	named.Message = "policy " + ref + ": " + e.Message
	return named.With("policy", ref)
}

// checkManifest checks the modules of a bundle against its manifest. Each package must be
// below one of the roots: OPA rejects any other bundle, because another bundle may own
// that part of the tree. An entry point that the manifest lists as compiled must also be
// present as Rego, because opa build -t wasm removes it.
func (p *Policy) checkManifest(roots, entrypoints []string) error {
	gone := slices.Clone(entrypoints)
	for _, m := range p.modules {
		parsed := p.parsed[m.shown]
		at := packagePath(parsed.Package)
		if !opabundle.RootPathsContain(roots, at) {
			return p.invalid(problemAt(parsed.Package.Loc(), "its package is at %s, outside the bundle's roots: %s", at, textutil.List(roots, 5)))
		}
		gone = slices.DeleteFunc(gone, func(entrypoint string) bool {
			return entrypoint == at || slices.ContainsFunc(parsed.Rules, func(r *ast.Rule) bool {
				return opabundle.RootPathsContain([]string{at + "/" + ruleName(r)}, entrypoint)
			})
		})
	}
	if len(gone) > 0 {
		return p.invalid(Problem{Message: "its rule " + textutil.Clip(gone[0], 200) + " is only in policy.wasm, where opa build -t wasm leaves it, and cannot be explained or " +
			"verified there: build the bundle without -t wasm, or with switchyard policy build --wasm, which keeps the Rego"})
	}
	return nil
}

// packagePath returns the path of a package in OPA's tree, such as "switchyard/routing",
// cut before the first name that contains a slash, because no root can express that name.
func packagePath(pkg *ast.Package) string {
	segments, _ := storage.NewPathForRef(pkg.Path) // the parser requires a package path
	if i := slices.IndexFunc(segments, func(name string) bool { return strings.Contains(name, "/") }); i >= 0 {
		segments = segments[:i]
	}
	return strings.Join(segments, "/")
}
