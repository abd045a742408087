package routing

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
)

// policyDigest identifies a policy by what it says, and by nothing else. It is the
// SHA-256 of a list that has one line for every module: the module's own
// SHA-256 in lower-case hex, then "\n". The lines are sorted by byte order.
//
// File names and tests are not part of it, so a version has one digest whether
// it comes embedded, from a directory or from a bundle. By hand:
//
//	find . -name '*.rego' ! -name '*_test.rego' -exec sha256sum {} + | cut -c1-64 | LC_ALL=C sort | sha256sum
func policyDigest(modules []module) string {
	lines := make([]string, len(modules))
	for i, m := range modules {
		lines[i] = digest.Hex(m.source) + "\n"
	}
	slices.Sort(lines)
	return digest.Of(strings.Join(lines, ""))
}
