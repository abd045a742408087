package bundle

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkLayout rejects file names by which OPA would read the bundle differently than it
// looks, and documents that two parsers could read differently. It must run before the
// signature is verified: OPA's digest of a document covers its meaning, which must be the
// same for every reader.
func checkLayout(files []File) error {
	for _, f := range files {
		switch {
		case path.Base(f.Name) == patchName:
			return malformedFile(f.Name, "it is part of a delta bundle, and a policy has to be whole")
		case isSignatures(f.Name) && f.Name != signaturesName:
			return malformedFile(f.Name, "the signatures belong into the bundle's topmost directory")
		case isManifest(f.Name) && f.Name != manifestName && f.Name != manifestProtoName:
			return malformedFile(f.Name, "OPA would take it for the manifest, which is the file %s in the topmost directory", manifestName)
		case bundle.IsYAMLDataFile(f.Name):
			return malformedFile(f.Name, "data in YAML is not read")
		}
		// Strict JSON, without duplicate names and trailing data, is the same to every
		// parser.
		if (f.Name == manifestName || isData(f.Name)) && !jsontext.Value(f.Data).IsValid() {
			return malformedFile(f.Name, "it is not one JSON value without duplicate names")
		}
		if isManifest(f.Name) {
			if err := checkManifest(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxManifest is the largest manifest, in bytes. OPA compares each root with every other
// one, which takes minutes for a megabyte of them.
const maxManifest = 16 << 10

// checkManifest rejects a manifest that would keep OPA busy, and a JSON manifest with
// names that differ only in case, because OPA takes them for one.
func checkManifest(f File) error {
	if len(f.Data) > maxManifest {
		return malformedFile(f.Name, "it is larger than %d bytes", maxManifest)
	}
	var members map[string]jsontext.Value
	if f.Name != manifestName || json.Unmarshal(f.Data, &members) != nil {
		return nil // OPA reports the error
	}
	spelt := make(map[string]string, len(members))
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(members))) {
		folded := fold(name)
		if other, twice := spelt[folded]; twice {
			return malformedFile(f.Name, "it has %q and %q, which OPA takes for one name", textutil.Clip(other, maxShown), textutil.Clip(name, maxShown))
		}
		spelt[folded] = name
	}
	return nil
}

// The names with a meaning in a bundle.
const (
	manifestName      = ".manifest"
	manifestProtoName = ".manifest.pb"
	signaturesName    = ".signatures.json"
	dataName          = "data.json"
	patchName         = "patch.json"
	wasmName          = "policy.wasm"
)

// maxNameLen is the longest name of a file, in bytes.
const maxNameLen = 1024

// localName converts the name of an archive's entry to one within the bundle. OPA's tools
// write "/routing.rego" and tar writes "./routing.rego"; both mean routing.rego. Any
// other name must be a clean path.
func localName(entry string, folder bool) (string, error) {
	name, rooted := strings.CutPrefix(entry, "/")
	if !rooted {
		name = strings.TrimPrefix(name, "./")
	}
	if folder {
		if name = strings.TrimSuffix(name, "/"); name == "" {
			name = "."
		}
	}
	return name, checkName(entry, name, folder)
}

// checkName rejects a name that is not one path below the bundle on every system. entry
// is the original name.
func checkName(entry, name string, folder bool) error {
	switch {
	case len(name) > maxNameLen:
		return malformedFile(entry, "its name is longer than %d bytes", maxNameLen)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return malformedFile(entry, "its name has characters that do not show")
	case strings.Contains(name, `\`):
		return malformedFile(entry, "its name has a backslash, which separates directories on some systems")
	case len(name) > 1 && name[1] == ':', strings.HasPrefix(name, "/"):
		return malformedFile(entry, "its name is absolute")
	case strings.Contains("/"+name+"/", "/../"):
		return malformedFile(entry, "its name leads out of the bundle")
	case !fs.ValidPath(name) || name == "." && !folder:
		return malformedFile(entry, "its name is not a path in its shortest form")
	}
	return nil
}

// fold makes names equal that differ only in case. Lower case alone is not enough,
// because some letters share a capital.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// nameSet is a set of folded names. Of two names that differ only in case, some systems
// can unpack only one, and a reviewer would see only that one.
type nameSet map[string]bool

func (s nameSet) add(name string) error {
	folded := fold(name)
	if s[folded] {
		return malformedFile(name, "the file is there twice, by this name or one that differs from it only in case")
	}
	s[folded] = true
	return nil
}

// isRego reports whether a file is a module or a test.
func isRego(name string) bool { return strings.HasSuffix(name, ".rego") }

// isManifest reports whether OPA treats the file as the manifest, in whatever directory.
func isManifest(name string) bool {
	return strings.HasSuffix(name, manifestName) || strings.HasSuffix(name, manifestProtoName)
}

// isSignatures reports whether OPA treats the file as the signatures.
func isSignatures(name string) bool { return path.Base(name) == signaturesName }

// isData reports whether OPA treats the file as data.
func isData(name string) bool { return path.Base(name) == dataName }
