package bundle

import (
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// isManifest reports whether OPA treats the file as the manifest: it checks only how the
// name ends, not its folder.
func isManifest(name string) bool {
	return strings.HasSuffix(name, manifestName) || strings.HasSuffix(name, manifestProtoName)
}

// isSignatures reports whether OPA treats the file as the signatures.
func isSignatures(name string) bool { return path.Base(name) == signaturesName }

// isData reports whether OPA treats the file as data.
func isData(name string) bool { return path.Base(name) == dataName }
