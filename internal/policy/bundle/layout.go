package bundle

import (
	"maps"
	"path"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// checkLayout refuses files by whose names OPA would take the bundle for another
// one than it seems, and documents that two parsers could read differently. It has
// to come before the signature is verified: OPA's digest of a document is over its
// meaning, and must be over the meaning that is used.
func checkLayout(files []File) error {
	for _, f := range files {
		switch {
		case path.Base(f.Name) == patchName:
			return malformedFile(f.Name, "it is part of a delta bundle, and a policy has to be whole")
		case isSignatures(f.Name) && f.Name != signaturesName:
			return malformedFile(f.Name, "the signatures belong into the bundle's topmost folder")
		case isManifest(f.Name) && f.Name != manifestName && f.Name != manifestProtoName:
			return malformedFile(f.Name, "OPA would take it for the manifest, which is the file %s in the topmost folder", manifestName)
		case bundle.IsYAMLDataFile(f.Name):
			return malformedFile(f.Name, "data in YAML is not read")
		}
		// A document that is strictly JSON, with no name twice and nothing behind it, is
		// the same to every parser.
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

// maxManifest is the largest manifest, in bytes. OPA holds each root against every
// other one, which takes minutes for a megabyte of them.
const maxManifest = 16 << 10

// checkManifest refuses a manifest that would keep OPA busy, and one in JSON that OPA
// reads otherwise than it seems: case makes no difference to how it reads names.
func checkManifest(f File) error {
	if len(f.Data) > maxManifest {
		return malformedFile(f.Name, "it is larger than %d bytes", maxManifest)
	}
	var members map[string]jsontext.Value
	if f.Name != manifestName || json.Unmarshal(f.Data, &members) != nil {
		return nil // OPA says what is wrong with it
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
