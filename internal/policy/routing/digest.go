package routing

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/digest"
)

// policyDigest returns the digest of a policy's content: the SHA-256 of a list with one
// line per module, which is the module's SHA-256 in lower-case hex, then "\n". The lines
// are sorted bytewise.
//
// File names and tests are excluded, so a version has one digest, whether it is embedded,
// in a directory or in a bundle. To compute it in a shell:
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
