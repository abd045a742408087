package routing

import (
	"context"
	"io/fs"
	"slices"
	"strings"
)

// Source is one Rego file of a policy, so that a policy can be stored and rebuilt.
type Source struct {
	// Name is the file's path within the policy, with slashes, such as "routing.rego". It
	// is unique within the policy.
	Name string `json:"name"`
	// Text is the file's whole content.
	Text string `json:"text"`
}

// Sources returns the policy's Rego files without tests, sorted by name. The caller owns
// the slice.
func (p *Policy) Sources() []Source {
	sources := make([]Source, len(p.modules))
	for i, m := range p.modules {
		sources[i] = Source{Name: m.path, Text: m.source}
	}
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return sources
}

// FromSources builds a policy from stored sources. ref names it in errors and locations.
// The caller vouches for the sources: Trust is not checked. The policy has neither a
// revision nor a signer.
//
// # Errors
//
// policy-invalid, policy-invalid-input, policy-timeout and policy-unreadable as in Load.
func (l Loader) FromSources(ctx context.Context, ref string, sources []Source) (*Policy, error) {
	return l.load(ctx, ref, func() (loadedSources, error) {
		if len(sources) > MaxModules {
			return loadedSources{}, tooLarge(ref, "", "it holds more than %d Rego files", MaxModules)
		}
		modules := make([]module, len(sources))
		for i, s := range sources {
			if !fs.ValidPath(s.Name) || !isModule(s.Name) {
				return loadedSources{}, invalid(ref, Problem{File: s.Name, Message: "it is not the name of a Rego file of a policy"})
			}
			modules[i] = module{name: ref + "/" + s.Name, path: s.Name, source: s.Text}
		}
		return loadedSources{modules: modules}, nil
	})
}
