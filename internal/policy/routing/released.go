package routing

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Versions lists the released policies as references for Load, oldest first.
func (l Loader) Versions() []string {
	if l.Released == nil {
		return nil
	}
	entries, err := fs.ReadDir(l.Released, "routing")
	if err != nil {
		return nil // cannot happen: the directory is compiled in
	}
	versions := make([]string, len(entries))
	for i, e := range entries {
		versions[i] = e.Name()
	}
	slices.SortFunc(versions, compareVersions)
	for i, v := range versions {
		versions[i] = "routing@" + v
	}
	return versions
}

// IsReleaseRef reports whether ref has the form NAME@VERSION and is not a path. A path
// with an @ in its last element is written with a separator, such as ./a@b.
func IsReleaseRef(ref string) bool {
	return strings.Contains(ref, "@") && !strings.ContainsAny(ref, `/\`)
}

func (l Loader) loadReleased(ctx context.Context, ref string) (*Policy, error) {
	sources, err := l.releasedSources(ref, isModule)
	if err != nil {
		return nil, err
	}
	modules := make([]module, len(sources))
	for i, s := range sources {
		modules[i] = module{name: ref + "/" + s.Name, path: s.Name, source: s.Text}
	}
	return l.build(ctx, ref, loadedSources{modules: modules})
}

// TestSources returns the Rego tests of an embedded version, sorted by name. The caller
// owns the slice.
//
// # Errors
//
// policy-unknown: ref is not built in.
func (l Loader) TestSources(ref string) ([]Source, error) {
	return l.releasedSources(ref, func(name string) bool { return strings.HasSuffix(name, testSuffix) })
}

// releasedSources reads the wanted files of an embedded version.
func (l Loader) releasedSources(ref string, wanted func(name string) bool) ([]Source, error) {
	name, version, _ := strings.Cut(ref, "@")
	unknown := errs.New(errs.PolicyUnknown, "no policy %s is built in", ref).With("policy", ref).With("known", l.Versions())
	if l.Released == nil || name != "routing" || !isVersion(version) {
		return nil, unknown
	}
	dir := path.Join("routing", version)
	entries, err := fs.ReadDir(l.Released, dir)
	if err != nil {
		return nil, unknown
	}
	var sources []Source
	for _, e := range entries {
		if !wanted(e.Name()) {
			continue
		}
		text, err := fs.ReadFile(l.Released, path.Join(dir, e.Name()))
		if err != nil {
			return nil, errs.New(errs.PolicyUnreadable, "read policy %s: %w", ref, err).With("policy", ref)
		}
		sources = append(sources, Source{Name: e.Name(), Text: string(text)})
	}
	return sources, nil
}
