package routing

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
)

// semantic matches a semantic version (semver.org, 2.0.0, with the expression given there).
var semantic = sync.OnceValue(func() *regexp.Regexp {
	const number, name = `(0|[1-9]\d*)`, `(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
	return regexp.MustCompile(`^` + number + `\.` + number + `\.` + number +
		`(-` + name + `(\.` + name + `)*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
})

// isVersion reports whether s is a semantic version without a leading v.
func isVersion(s string) bool { return semantic().MatchString(s) }

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// compareVersions orders versions by precedence (semver.org, 11): the three numbers, then
// a pre-release before its release, then the pre-releases. It ignores build metadata.
func compareVersions(a, b string) int {
	a, _, _ = strings.Cut(a, "+")
	b, _, _ = strings.Cut(b, "+")
	aCore, aPre, aHasPre := strings.Cut(a, "-")
	bCore, bPre, bHasPre := strings.Cut(b, "-")
	switch c := compareLists(aCore, bCore); {
	case c != 0:
		return c
	case aHasPre != bHasPre:
		if aHasPre {
			return -1
		}
		return 1
	default:
		return compareLists(aPre, bPre)
	}
}

// compareLists orders dotted lists by their first different part; a prefix comes first.
func compareLists(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if c := comparePart(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// comparePart orders numbers by value and before words, and words bytewise. Numbers have
// no leading zeros here, so the longer one is greater, however long they are.
func comparePart(x, y string) int {
	switch xIs, yIs := isNumber(x), isNumber(y); {
	case xIs && yIs:
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	case xIs:
		return -1
	case yIs:
		return 1
	default:
		return cmp.Compare(x, y)
	}
}

// Older reports whether a is certainly older than b, so that going from b to a would be a
// downgrade. It compares the versions, and if they are equal, the revisions of the
// bundles. Revisions are comparable if both are semantic versions or both are whole
// numbers, such as a date or a build number; of any others, such as commit hashes,
// neither is older.
//
// It is a strict partial order.
func Older(a, b Identity) bool {
	if a.Name != b.Name || !isVersion(a.Version) || !isVersion(b.Version) {
		return false
	}
	if c := compareVersions(a.Version, b.Version); c != 0 {
		return c < 0
	}
	return olderRevision(a.Revision, b.Revision)
}

// olderRevision compares two revisions of one version.
func olderRevision(a, b string) bool {
	switch {
	case isVersion(a) && isVersion(b):
		return compareVersions(a, b) < 0
	case isPlainNumber(a) && isPlainNumber(b):
		return comparePart(a, b) < 0
	default:
		return false
	}
}

// isPlainNumber reports whether s is a whole number without leading zeros.
func isPlainNumber(s string) bool { return isNumber(s) && (s[0] != '0' || s == "0") }

// maxNameLen bounds the name of a destination and a reason, in bytes.
const maxNameLen = 64

// IsName reports whether s can be the name of a destination or a reason, which become
// metric labels and words in shell scripts. It must match
//
//	^[a-z0-9][a-z0-9-]{0,63}$
func IsName(s string) bool {
	if s == "" || len(s) > maxNameLen || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
