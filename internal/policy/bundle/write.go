package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// Draft is a bundle to be written.
type Draft struct {
	// Files are the modules and other files of the bundle. The manifest, the signature
	// and policy.wasm come from the fields below.
	Files []File
	// Revision is as in Contents; "" leaves it out.
	Revision string
	// Roots are the path prefixes of the bundle's packages, such as "switchyard/routing".
	// There is at least one, and no root contains another.
	Roots []string
	// Wasm is the policy compiled to WebAssembly, or empty. The bundle has it as
	// policy.wasm.
	Wasm []byte
	// Entrypoint is the path of the rule that Wasm evaluates, such as
	// "switchyard/routing/decision", and "" without Wasm.
	Entrypoint string
	// Sign configures the signature; nil leaves the bundle unsigned.
	Sign *Signing
}

// Pack returns the bundle's archive. The order of files, times, owners and modes are
// fixed, so equal drafts give equal bytes. It rejects a Draft that Read would not accept.
//
// # Errors
//
//   - policy-invalid: the draft is not a valid bundle.
//   - policy-key-invalid: the key cannot sign.
func (d Draft) Pack() ([]byte, error) {
	files, err := d.files()
	if err != nil {
		return nil, err
	}
	if d.Sign != nil {
		signature, err := d.Sign.Sign(files)
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: signaturesName, Data: signature})
	}
	return pack(files)
}

// files returns all files except the signature, sorted by name.
func (d Draft) files() ([]File, error) {
	files := slices.Clone(d.Files)
	names := make(nameSet)
	for _, f := range files {
		if err := checkName(f.Name, f.Name, false); err != nil {
			return nil, err
		}
		if isManifest(f.Name) || isSignatures(f.Name) || f.Name == wasmName {
			return nil, malformedFile(f.Name, "a draft has a field for it, and not a file")
		}
		if err := names.add(f.Name); err != nil {
			return nil, err
		}
	}
	if (len(d.Wasm) == 0) != (d.Entrypoint == "") || len(d.Roots) == 0 {
		return nil, malformed("a draft needs roots, and an entrypoint if and only if it has Wasm")
	}
	if len(d.Wasm) > 0 {
		files = append(files, File{Name: wasmName, Data: d.Wasm})
	}
	manifest, err := d.manifest()
	if err != nil {
		return nil, err
	}
	files = append(files, manifest)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if err := checkLayout(files); err != nil {
		return nil, err
	}
	_, err = interpret(files)
	return files, err
}

func (d Draft) manifest() (File, error) {
	roots := slices.Sorted(slices.Values(d.Roots))
	m := bundle.Manifest{Revision: d.Revision, Roots: &roots, RegoVersion: new(regoVersion)}
	if len(d.Wasm) > 0 {
		m.WasmResolvers = []bundle.WasmResolver{{Entrypoint: d.Entrypoint, Module: "/" + wasmName}}
	}
	data, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return File{}, malformedFile(manifestName, "it cannot be written: %v", err)
	}
	return File{Name: manifestName, Data: append(data, '\n')}, nil
}

// pack builds the archive. Names begin with a slash, as in OPA's archives: the manifest
// refers to policy.wasm that way.
func pack(files []File) ([]byte, error) {
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "/" + f.Name, Size: int64(len(f.Data)), Mode: 0o644})
		if err == nil {
			_, err = archive.Write(f.Data)
		}
		if err != nil {
			return nil, malformedFile(f.Name, "it cannot be packed: %v", err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return nil, malformed("it cannot be packed: %w", err)
	}
	return packed.Bytes(), nil
}
