package routing

import (
	"strings"

	"golang.org/x/mod/semver"
)

// isVersion reports whether s is a complete semantic version (semver.org, 2.0.0) without a
// leading v. Package semver also accepts abbreviations such as v1.2.
func isVersion(s string) bool {
	v := "v" + s
	return semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// compareVersions orders versions by precedence (semver.org, 11).
func compareVersions(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// Older reports whether a is certainly older than b, so that going from b to a would be a
// downgrade. It compares the versions, and if they are equal, the revisions of the
// bundles. Revisions are comparable if both are semantic versions or both are whole
// numbers, such as a date or a build number, and not if they are, say, commit hashes.
//
// It is a strict partial order.
func Older(a, b Identity) bool {
	if a.Name != b.Name || !isVersion(a.Version) || !isVersion(b.Version) {
		return false
	}
	if c := compareVersions(a.Version, b.Version); c != 0 {
		return c < 0
	}
	comparable := isVersion(a.Revision) && isVersion(b.Revision) || isNumber(a.Revision) && isNumber(b.Revision)
	return comparable && compareVersions(a.Revision, b.Revision) < 0
}

// isNumber reports whether s is a whole number without leading zeros, which is a major
// version to package semver.
func isNumber(s string) bool { return semver.Major("v"+s) == "v"+s }

// maxNameLen bounds the name of a destination and a reason, in bytes.
const maxNameLen = 64

// IsName reports whether s can be the name of a destination or a reason, which become
// metric labels and words in shell scripts. It must match
//
//	^[a-z0-9][a-z0-9-]{0,63}$
func IsName(s string) bool {
	return s != "" && len(s) <= maxNameLen && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
