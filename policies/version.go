package policies

import (
	"cmp"
	"strings"
)

// isVersion says that s is a semantic version (semver.org, 2.0.0) without a
// leading v.
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

// areIdentifiers says that s is a dotted list of identifiers, whose numbers
// have no leading zero where strict.
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

// compareVersions orders released versions, which are three numbers without
// leading zeros: of two such numbers the longer is the greater.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
