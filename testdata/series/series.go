// Package series has published series of reviews, to compare policies on
// (docs/policies.md).
package series

import "embed"

// Files are the series, one in each file.
//
//go:embed *.json
var Files embed.FS
