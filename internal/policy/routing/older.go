package routing

// Older says that a is certainly older than b: to go from b to a would be a step
// back. The version decides, and where it is the same, the revision of the bundle.
// Two revisions can be compared where both are semantic versions, or both are
// whole numbers, as a date or a build's number is; of any others, such as the
// hashes of commits, neither is older.
//
// It is a strict partial order: nothing is older than itself, and what is older
// than something older is older.
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

// isPlainNumber says that s is a whole number without leading zeros.
func isPlainNumber(s string) bool { return isNumber(s) && (s[0] != '0' || s == "0") }
