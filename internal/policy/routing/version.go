package routing

import (
	"cmp"
	"strings"
)

// isVersion reports whether s is a semantic version (semver.org, 2.0.0) without a leading
// v.
func isVersion(s string) bool {
	s, build, hasBuild := strings.Cut(s, "+")
	core, pre, hasPre := strings.Cut(s, "-")
	if hasBuild && !areIdentifiers(build, false) || hasPre && !areIdentifiers(pre, true) {
		return false
	}
	parts := strings.Split(core, ".")
	for _, part := range parts {
		if !isNumber(part) || part[0] == '0' && part != "0" {
			return false
		}
	}
	return len(parts) == 3
}

// areIdentifiers reports whether s is a dotted list of identifiers. If strict, numbers
// must not have leading zeros.
func areIdentifiers(s string, strict bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || strict && isNumber(id) && id[0] == '0' && id != "0" {
			return false
		}
		for i := range len(id) {
			if c := id[i] | 0x20; id[i] != '-' && !isDigit(id[i]) && (c < 'a' || c > 'z') {
				return false
			}
		}
	}
	return true
}

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
