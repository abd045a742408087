package bundle

import (
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names that mean something in a bundle.
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

// localName turns the name of an archive's entry into one within the bundle. OPA's
// tools write "/routing.rego" and tar writes "./routing.rego"; both mean
// routing.rego. Any other name must be the only way to write the path that it is.
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

// checkName refuses a name that is not one path below the bundle, on whatever
// system it is unpacked. entry is the name as it was given.
func checkName(entry, name string, folder bool) error {
	switch {
	case len(name) > maxNameLen:
		return malformedFile(entry, "its name is longer than %d bytes", maxNameLen)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return malformedFile(entry, "its name has characters that do not show")
	case strings.Contains(name, `\`):
		return malformedFile(entry, "its name has a backslash, which separates folders on some systems")
	case len(name) > 1 && name[1] == ':', strings.HasPrefix(name, "/"):
		return malformedFile(entry, "its name is absolute")
	case strings.Contains("/"+name+"/", "/../"):
		return malformedFile(entry, "its name leads out of the bundle")
	case !fs.ValidPath(name) || name == "." && !folder:
		return malformedFile(entry, "its name is not a path in its shortest form")
	}
	return nil
}

// fold makes names equal that differ in case alone. Some letters have one capital in
// common, so lower case alone is not enough.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// nameSet holds names that are taken, folded: of two names that differ in
// case alone, only one can be unpacked on some systems, and a reviewer would see
// only that one.
type nameSet map[string]bool

func (s nameSet) add(name string) error {
	folded := fold(name)
	if s[folded] {
		return malformedFile(name, "the file is there twice, by this name or one that differs from it only in case")
	}
	s[folded] = true
	return nil
}

// isRego says that a file is a module or a test.
func isRego(name string) bool { return strings.HasSuffix(name, ".rego") }

// isManifest says that OPA takes the file for the manifest: it looks at how the
// name ends and not at where the file is.
func isManifest(name string) bool {
	return strings.HasSuffix(name, manifestName) || strings.HasSuffix(name, manifestProtoName)
}

// isSignatures says that OPA takes the file for the signatures.
func isSignatures(name string) bool { return path.Base(name) == signaturesName }

// isData says that OPA takes the file for data.
func isData(name string) bool { return path.Base(name) == dataName }
