package bundle

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/loader/filter"
)

// regoVersion is the version of Rego that policies are written in.
const regoVersion = 1

// maxRevisionLen is the longest revision, in bytes.
const maxRevisionLen = 256

// interpret lets OPA read everything except the Rego: the manifest in either of its
// formats, whether its roots overlap, the data, and whether the manifest and policy.wasm
// agree. Package routing parses the Rego: it has the limits of a policy, and OPA would
// parse in goroutines whose panics cannot be recovered.
func interpret(files []File) (Contents, error) {
	read, err := bundle.NewCustomReader(&loader{files: files}).WithSkipBundleVerification(true).Read()
	if err != nil {
		return Contents{}, malformed("OPA does not accept it: %w", err)
	}
	m := read.Manifest
	if len(m.Revision) > maxRevisionLen || strings.ContainsFunc(m.Revision, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return Contents{}, malformed("its revision is not printable, or longer than %d bytes", maxRevisionLen)
	}
	if m.RegoVersion != nil && *m.RegoVersion != regoVersion {
		return Contents{}, malformed("it is written in Rego v%d, not v%d", *m.RegoVersion, regoVersion)
	}
	for _, version := range m.FileRegoVersions {
		if version != regoVersion {
			return Contents{}, malformed("files of it are written in Rego v%d, not v%d", version, regoVersion)
		}
	}
	c := Contents{Revision: m.Revision, Roots: *m.Roots, Data: len(read.Data) > 0}
	for _, resolver := range m.WasmResolvers {
		c.Entrypoints = append(c.Entrypoints, strings.Trim(resolver.Entrypoint, "/"))
	}
	for _, f := range files {
		if !isData(f.Name) && !isManifest(f.Name) && !isSignatures(f.Name) {
			c.Files = append(c.Files, f)
		}
	}
	return c, nil
}

// loader passes files in memory to OPA, without Rego.
type loader struct{ files []File }

// NextFile returns the next file, or io.EOF.
func (l *loader) NextFile() (*bundle.Descriptor, error) {
	for len(l.files) > 0 {
		f := l.files[0]
		l.files = l.files[1:]
		if !isRego(f.Name) {
			name := "/" + f.Name // as in OPA's archives: the manifest refers to policy.wasm that way
			return bundle.NewDescriptor(name, name, bytes.NewBuffer(f.Data)), nil
		}
	}
	return nil, io.EOF
}

// The other methods of bundle.DirectoryLoader concern files on disk.

func (l *loader) WithFilter(filter.LoaderFilter) bundle.DirectoryLoader         { return l }
func (l *loader) WithPathFormat(bundle.PathFormat) bundle.DirectoryLoader       { return l }
func (l *loader) WithSizeLimitBytes(int64) bundle.DirectoryLoader               { return l }
func (l *loader) WithFollowSymlinks(followSymlinks bool) bundle.DirectoryLoader { return l }
