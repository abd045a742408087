package routing

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
