// Package bundle reads, verifies, writes and signs policy bundles in the format of the
// Open Policy Agent: a gzipped tar file with Rego modules, a manifest, and a JSON Web
// Token over the digests of all files.
//
// OPA's code interprets manifests and signatures, so OPA's tools and this package agree
// about every bundle. This package is stricter: it rejects an archive that two readers
// could interpret differently, and accepts a signature only with a trusted key,
// algorithm, scope and time.
//
// Every error is an *errs.Error with one of the codes of this package. Nothing is written
// to disk.
package bundle

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/loader/filter"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// File is one file of a bundle.
type File struct {
	// Name is its path within the bundle, with slashes and without a leading one.
	Name string
	// Data is the file's content.
	Data []byte
}

// Limits bounds the input of Read. All of them are required.
type Limits struct {
	// Packed and Unpacked bound the size of the archive in bytes, compressed and
	// uncompressed.
	Packed, Unpacked int64
	// Module bounds each Rego file, in bytes.
	Module int64
	// Entries bounds the number of files and directories.
	Entries int
}

// Contents is the content of a bundle.
type Contents struct {
	// Files are all files except data, the manifest and the signature, in the archive's
	// order: modules, tests and others. A compiled policy.wasm is among them, but is not
	// checked.
	Files []File
	// Revision is the revision in the manifest, or "". It is short and printable.
	Revision string
	// Roots are the path prefixes of the bundle's packages and data, such as
	// "switchyard/routing". The root "" contains every path.
	Roots []string
	// Entrypoints are the rules that are compiled to a .wasm file according to the
	// manifest, such as "switchyard/routing/decision".
	Entrypoints []string
	// Signer is the ID of the key that signed the bundle, or "" if no signature was
	// required.
	Signer string
	// Data reports whether the bundle contains data, other than one empty object.
	Data bool
}

// Read reads a bundle. If t is not nil, it verifies the signature first: it must be by
// one of t's keys and cover exactly the files of the bundle. Without t, signatures are
// ignored.
//
// Read rejects OPA's delta bundles, since a policy is read as a whole, and data in YAML.
// Names in the archive may begin with a slash, as written by OPA's tools, or with "./",
// as written by tar; any other name that is not a clean path within the bundle is
// rejected, and so is everything that is not a file or directory.
//
// # Errors
//
//   - policy-invalid: packed is not a valid bundle, or exceeds a limit.
//   - policy-key-invalid: a key of t cannot be used, or t has no keys.
//   - policy-unsigned, policy-signature-invalid, policy-signature-expired,
//     policy-key-unknown, policy-scope-mismatch: the bundle does not verify.
func Read(packed []byte, l Limits, t *Trust) (Contents, error) {
	if err := t.Check(); err != nil {
		return Contents{}, err
	}
	files, err := unpack(packed, l)
	if err != nil {
		return Contents{}, err
	}
	if err := checkLayout(files); err != nil {
		return Contents{}, err
	}
	signer, err := t.verify(files)
	if err != nil {
		return Contents{}, err
	}
	c, err := interpret(files)
	c.Signer = signer
	return c, err
}

// maxShown bounds the text of a bundle in a message, in code points.
const maxShown = 200

// Problem is the cause of every policy-invalid: the defect of a bundle and its file, for
// callers that name the bundle themselves.
type Problem struct {
	// File is the defective file, escaped for display, or "" if it is not about one file.
	File string
	// Message describes the defect of the file, or of the bundle, and calls it "it".
	Message string

	cause error
}

// Error returns the message, prefixed with the file.
func (p Problem) Error() string {
	if p.File == "" {
		return p.Message
	}
	return p.File + ": " + p.Message
}

// Unwrap returns the error of the archive's reader, or nil.
func (p Problem) Unwrap() error { return p.cause }

// malformed returns the error for a whole bundle.
func malformed(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	message := strings.Join(strings.Fields(err.Error()), " ")
	return invalid(Problem{Message: textutil.Clip(message, maxShown), cause: err})
}

// malformedFile returns the error for one file of a bundle.
func malformedFile(name, format string, args ...any) error {
	if shown := strconv.QuoteToGraphic(name); shown != `"`+name+`"` {
		name = shown // with escapes for invisible characters
	}
	return invalid(Problem{File: textutil.Clip(name, maxShown), Message: fmt.Sprintf(format, args...)})
}

func invalid(p Problem) error {
	err := errs.New(errs.PolicyInvalid, "the bundle is invalid: %w", p)
	if p.File != "" {
		err = err.With("file", p.File)
	}
	return err
}

// regoVersion is the version of Rego that policies are written in.
const regoVersion = 1

// maxRevisionLen is the longest revision, in bytes.
const maxRevisionLen = 256

// interpret lets OPA read everything except the Rego: the manifest in either of its
// formats, whether its roots overlap, the data, and whether the manifest and policy.wasm
// agree. Package routing parses the Rego: it enforces the limits of a policy, and OPA would
// parse in goroutines, so that a panic could not be recovered.
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
