package routing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Source is one Rego file of a policy, so that a policy can be stored and rebuilt.
type Source struct {
	// Name is the file's path within the policy, with slashes, such as "routing.rego". It
	// is unique within the policy.
	Name string `json:"name"`
	// Text is the file's whole content.
	Text string `json:"text"`
}

// module is a source with the name that errors and locations show.
type module struct {
	Source
	shown string
}

// modulesOf returns sources as modules that are shown with a prefix.
func modulesOf(prefix string, sources []Source) []module {
	modules := make([]module, len(sources))
	for i, s := range sources {
		modules[i] = module{Source: s, shown: prefix + s.Name}
	}
	return modules
}

// testSuffix ends the names of test files.
const testSuffix = "_test.rego"

// IsModule reports whether a file of a policy is Rego other than a test.
func IsModule(name string) bool {
	return strings.HasSuffix(name, ".rego") && !strings.HasSuffix(name, testSuffix)
}

// IsTest reports whether a file of a policy has tests.
func IsTest(name string) bool { return strings.HasSuffix(name, testSuffix) }

// Sources returns the policy's Rego files without tests, sorted by name. The caller owns
// the slice.
func (p *Policy) Sources() []Source {
	sources := make([]Source, len(p.modules))
	for i, m := range p.modules {
		sources[i] = m.Source
	}
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return sources
}

// Digest returns the digest of a policy's content: the SHA-256 of a list with one line per
// module, which is the module's SHA-256 in lower-case hex, then "\n". The lines are sorted
// bytewise.
//
// File names and tests are excluded, so a version has one digest, whether it is embedded,
// in a directory or in a bundle. To compute it in a shell:
//
//	find . -name '*.rego' ! -name '*_test.rego' -exec sha256sum {} + | cut -c1-64 | LC_ALL=C sort | sha256sum
func Digest(modules []Source) string {
	lines := make([]string, len(modules))
	for i, m := range modules {
		lines[i] = digest.Hex(m.Text) + "\n"
	}
	slices.Sort(lines)
	return digest.Of(strings.Join(lines, ""))
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
		for _, s := range sources {
			if !fs.ValidPath(s.Name) || !IsModule(s.Name) {
				return loadedSources{}, invalid(ref, Problem{File: s.Name, Message: "it is not the name of a Rego file of a policy"})
			}
		}
		return loadedSources{modules: modulesOf(ref+"/", sources)}, nil
	})
}

// ReadDir is ReadFiles for a directory that is not in a root.
func ReadDir(dir string, wanted func(name string) bool) ([]Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer root.Close()
	return ReadFiles(root, ".", dir, wanted)
}

// ReadFiles reads the wanted Rego files below a directory of root, in lexical order and named
// by their paths in that directory. Links to files are followed if they stay within root. ref
// names the policy in errors.
//
// # Errors
//
// policy-unreadable, and policy-invalid if a limit is exceeded or a name is not text.
func ReadFiles(root *os.Root, dir, ref string, wanted func(name string) bool) ([]Source, error) {
	var sources []Source
	entries, bytes := 0, 0
	err := fs.WalkDir(root.FS(), dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(ref, err)
		}
		if entries++; entries > MaxEntries {
			return tooLarge(ref, "", "it holds more than %d files", MaxEntries)
		}
		if e.IsDir() || !wanted(file) {
			return nil
		}
		name := strings.TrimPrefix(file, dir+"/")
		if !utf8.ValidString(name) { // bundles and stored sources require text
			return invalid(ref, Problem{Message: fmt.Sprintf("the name of a Rego file is not UTF-8: %q", name)})
		}
		text, err := safefile.Read(root, file, MaxModuleBytes)
		if _, large := errors.AsType[safefile.TooLargeError](err); large {
			return tooLarge(ref, filepath.Join(ref, filepath.FromSlash(name)), "it is larger than %d bytes", MaxModuleBytes)
		}
		if err != nil {
			return unreadable(ref, fmt.Errorf("%s: %w", name, safefile.Reason(err)))
		}
		if bytes += len(text); bytes > MaxModuleBytes {
			return tooLarge(ref, "", "its Rego files have more than %d bytes together", MaxModuleBytes)
		}
		if sources = append(sources, Source{Name: name, Text: string(text)}); len(sources) > MaxModules {
			return tooLarge(ref, "", "it holds more than %d Rego files", MaxModules)
		}
		return nil
	})
	return sources, err
}

// IsReleaseRef reports whether ref has the form NAME@VERSION and is not a path. A path with
// an @ must have a separator, such as ./a@b.
func IsReleaseRef(ref string) bool {
	return strings.Contains(ref, "@") && !strings.ContainsAny(ref, `/\`)
}

// Versions lists the released policies as references for Load, oldest first.
func (l Loader) Versions() []string {
	if l.Released == nil {
		return nil
	}
	entries, _ := fs.ReadDir(l.Released, policyName) // the directory is compiled in
	versions := make([]string, len(entries))
	for i, e := range entries {
		versions[i] = policyName + "@" + e.Name()
	}
	slices.SortFunc(versions, CompareRefs)
	return versions
}

// TestSources returns the Rego tests of an embedded version, sorted by name. The caller
// owns the slice.
//
// # Errors
//
// policy-unknown: ref is not built in.
func (l Loader) TestSources(ref string) ([]Source, error) { return l.releasedSources(ref, IsTest) }

// releasedSources reads the wanted files of an embedded version.
func (l Loader) releasedSources(ref string, wanted func(name string) bool) ([]Source, error) {
	name, version, _ := strings.Cut(ref, "@")
	unknown := errs.New(errs.PolicyUnknown, "no policy %s is built in", ref).With("policy", ref).With("known", l.Versions())
	if l.Released == nil || name != policyName || !isVersion(version) {
		return nil, unknown
	}
	dir := path.Join(policyName, version)
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
