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

// checkLayout rejects files whose names would make OPA read the bundle differently than
// it looks, and documents that two parsers could read differently. It must run before the
// signature is verified: OPA's digest of a document covers its meaning, which must be the
// one that is used.
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
