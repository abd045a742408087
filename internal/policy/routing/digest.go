package routing

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// digestPrefix names the algorithm in front of every digest.
const digestPrefix = "sha256:"

// digest identifies a policy by what it says, and by nothing else. It is the
// SHA-256 of a list that has one line for every module: the module's own
// SHA-256 in lower-case hex, then "\n". The lines are sorted by byte order.
//
// File names and tests are not part of it, so a version has one digest whether
// it comes embedded, from a directory or from a bundle. By hand:
//
//	find . -name '*.rego' ! -name '*_test.rego' -exec sha256sum {} + | cut -c1-64 | LC_ALL=C sort | sha256sum
func digest(modules []module) string {
	lines := make([]string, len(modules))
	for i, m := range modules {
		sum := sha256.Sum256([]byte(m.source))
		lines[i] = hex.EncodeToString(sum[:]) + "\n"
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return digestPrefix + hex.EncodeToString(sum[:])
}
